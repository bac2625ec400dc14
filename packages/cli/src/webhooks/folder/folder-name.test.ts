import assert from "node:assert/strict";
import { test } from "node:test";
import { folderName, freeFolderName } from "./folder-name.ts";

test("a folder's name is fit for every system, and leads nowhere else", () => {
  const cases: [string, string][] = [
    ["Stripe", "stripe"],
    ["Stripe (live)", "stripe-live"],
    ["../../etc/passwd", "etc-passwd"],
    [".git", "git"],
    ["C:\\x", "c-x"],
    ["Grüße", "grüße"],
    ["支付", "支付"],
    ["!?", "webhook"],
    ["a".repeat(80), "a".repeat(60)],
    [`${"a".repeat(59)} b`, "a".repeat(59)],
  ];
  for (const [name, folder] of cases) assert.equal(folderName(name), folder, name);
});

test("webhooks of one name are told apart by environment, then by number", () => {
  const taken = new Set<string>();
  const made = ["production", "feature/cart", "feature/cart", "feature/cart"].map((environment) => {
    const name = freeFolderName("Stripe", environment, taken);
    taken.add(name);
    return name;
  });
  assert.deepEqual(made, ["stripe", "stripe-feature-cart", "stripe-feature-cart-2", "stripe-feature-cart-3"]);
});
