import assert from "node:assert/strict";
import { test } from "node:test";
import { RE2JS } from "re2js";
import { patternStates } from "./pattern-states.ts";

test("the sets of a pattern are counted, whatever it is made of", () => {
  const cases: [string, least: number, most: number][] = [
    ["^a$", 3, 6],
    ["^[0-9]{8}$", 10, 13],
    ["[ab]*a[ab]{5}[cd]", 64, 150],
    ["(?i)^k\\b\\pL+$", 4, 40],
    ["^\\p{Lu}[\\p{L} '-]{0,99}$", 100, 220],
  ];
  for (const [pattern, least, most] of cases) {
    const { sets } = patternStates(pattern);
    assert.ok(sets !== null && sets >= least && sets <= most, `${pattern}: ${sets}`);
  }
  for (const pattern of ["[ab]*a[ab]{20}[cd]", "^.{1,64}@.{1,255}$"]) assert.equal(patternStates(pattern).sets, null, pattern);
});

test("a text leads to no set that was not counted, and to no more memory, but that a set may occur twice, after a line's end", () => {
  const patterns = ["[ab]*a[ab]{5}[cd]", "\\b(ab|ba)+\\b", "(?m)^(a|b.)*$", "[^a]b{2,9}\\z"];
  for (const pattern of patterns) {
    const counted = patternStates(pattern);
    const used = RE2JS.compile(pattern);
    for (let n = 0; n < 3_000; n++) {
      const text = Array.from({ length: n % 23 }, (_, at) => "ab \nc\u00e9\u212a"[(n * 31 + at * at * 7 + (n >> (at % 11))) % 7]).join("");
      used.test(text);
    }
    const { dfa } = used.re2Input;
    assert.ok(dfa.stateCount <= 2 * (counted.sets ?? 0), `${pattern}: ${dfa.stateCount} of ${counted.sets}`);
    assert.ok(dfa.stateBudget - dfa.memBudget <= 2 * counted.bytes, pattern);
  }
});
