import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeeperThan } from "./json-depth.ts";
import { patternWork } from "./pattern-work.ts";

test("a pattern of a fixed length from the start has one active state", () => {
  for (const pattern of ["^abc", "^[a-z]{8}-[0-9]{4}$", "^(?:ab){20}", "\\A\\x{41}\\p{L}[]a]", "^\\Qa*b*\\E"])
    assert.equal(patternWork(pattern).width, 1, pattern);
});

test("a pattern that may start anywhere, or after a loop, has as many as it has states behind", () => {
  const cases: [string, number][] = [
    ["[ab]*a[ab]{1000}[cd]", 1_000],
    ["^[ab]*a[ab]{1000}[cd]", 1_000],
    ["a{500}", 500],
    ["^a|b{100}", 100],
    ["(?m)^a{100}", 100],
    ["^(a|bc){50}", 100],
  ];
  for (const [pattern, least] of cases) assert.ok(patternWork(pattern).width >= least, `${pattern}: ${patternWork(pattern).width}`);
});

test("a bounded repetition of one character has two, and what follows it few", () => {
  const cases: [string, number][] = [
    ["^[a-z]{1,64}$", 3],
    ["^(a|b|c){1,20}$", 5],
    ["^\\+?[1-9]\\d{1,14}$", 10],
  ];
  for (const [pattern, most] of cases) assert.ok(patternWork(pattern).width <= most, `${pattern}: ${patternWork(pattern).width}`);
});

test("the size counts what repetitions write out", () => {
  assert.ok(patternWork("(a{10}){100}").size >= 1_000);
  assert.ok(patternWork(`(${"a?".repeat(490)}){1000}`).size >= 490_000);
  assert.ok(patternWork("a{2,}b*").size <= 12);
});

test("the depth of a value is found without recursion", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  assert.deepEqual([isDeeperThan(deep, 99_999), isDeeperThan(deep, 100_000)], [true, false]);
  assert.deepEqual([isDeeperThan({ a: [{}] }, 2), isDeeperThan({ a: [{}] }, 3), isDeeperThan(1, 0)], [true, false, false]);
});
