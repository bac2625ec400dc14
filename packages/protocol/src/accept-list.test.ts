import assert from "node:assert/strict";
import { test } from "node:test";
import { listAllows, nameAllowed, nameMatches } from "./accept-list.ts";

test("a pattern matches itself, or with a star at its end every name that begins so", () => {
  const cases: [pattern: string, name: string, matches: boolean][] = [
    ["orders/paid", "orders/paid", true],
    ["orders/paid", "orders/paid.late", false],
    ["orders/paid", "orders/pai", false],
    ["orders/*", "orders/paid", true],
    ["orders/*", "orders/", true],
    ["orders/*", "orders", false],
    ["orders/*", "my/orders/paid", false],
    ["*", "anything", true],
    ["*", "", true],
    ["a*b", "a*b", true],
    ["a*b", "axb", false],
    ["orders/*", "Orders/paid", false],
  ];
  for (const [pattern, name, matches] of cases) assert.equal(nameMatches(pattern, name), matches, `${pattern} ${name}`);
});

test("an allow list accepts what it names, a deny list what it does not name", () => {
  assert.deepEqual(
    [true, false].map((named) => listAllows({ mode: "allow", list: [] }, named)),
    [true, false],
  );
  assert.deepEqual(
    [true, false].map((named) => listAllows({ mode: "deny", list: [] }, named)),
    [false, true],
  );
});

test("a name is accepted by any pattern of its list, and by no list", () => {
  assert.equal(nameAllowed(null, "a"), true);
  const list = ["orders/*", "pay"];
  for (const [name, isNamed] of [
    ["orders/x", true],
    ["pay", true],
    ["payment", false],
  ] as const) {
    assert.equal(nameAllowed({ mode: "allow", list }, name), isNamed, name);
    assert.equal(nameAllowed({ mode: "deny", list }, name), !isNamed, name);
  }
  assert.equal(nameAllowed({ mode: "allow", list: [] }, "a"), false, "an empty list names nothing");
  assert.equal(nameAllowed({ mode: "deny", list: [] }, "a"), true);
});
