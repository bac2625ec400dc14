import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import test from "node:test";
import { hashStepId } from "./sha1.ts";

test("hashes as SHA-1 does, at every length around a block and in every alphabet", () => {
  const texts = ["", "a", "charge", "größe", "🧺", "é".repeat(40), ...Array.from({ length: 140 }, (_, length) => "x".repeat(length))];
  for (const text of texts) assert.equal(hashStepId(text), createHash("sha1").update(text).digest("hex"), JSON.stringify(text));
});

test("remembers without mixing up, also beyond what it remembers", () => {
  const ids = Array.from({ length: 5_000 }, (_, i) => `step ${i}`);
  for (const id of [...ids, ...ids]) assert.equal(hashStepId(id), createHash("sha1").update(id).digest("hex"));
});
