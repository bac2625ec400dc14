import assert from "node:assert/strict";
import { test } from "node:test";
import { versionInForce } from "./policy.ts";

const known = [
  { version: 3, transform: "c", createdAt: 3, author: null },
  { version: 2, transform: "b", createdAt: 2, author: null },
  { version: 1, transform: "a", createdAt: 1, author: null },
];

test("a change without a transform keeps the version in force, or returns to an older one", () => {
  assert.deepEqual(versionInForce({ version: 2 }, {}, known), { version: 2, isNew: false });
  assert.deepEqual(versionInForce({ version: 3 }, { version: 1 }, known), { version: 1, isNew: false });
});

test("a transform creates a version after the newest one, unless the version in force has it already", () => {
  assert.deepEqual(versionInForce({ version: 2 }, { transform: "d" }, known), { version: 4, isNew: true });
  assert.deepEqual(versionInForce({ version: 2 }, { transform: "b" }, known), { version: 2, isNew: false });
  assert.deepEqual(versionInForce({ version: 2 }, { transform: "c" }, known), { version: 4, isNew: true });
  assert.deepEqual(versionInForce({ version: 3 }, { transform: "a", version: 1 }, known), { version: 1, isNew: false });
});

test("a version that does not exist cannot be in force", () => {
  assert.equal(versionInForce({ version: 3 }, { version: 9 }, known), null);
  assert.equal(versionInForce({ version: 3 }, { version: 9, transform: "d" }, known), null);
});
