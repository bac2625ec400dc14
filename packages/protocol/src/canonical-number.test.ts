import assert from "node:assert/strict";
import { test } from "node:test";
import { canonicalNumber } from "./canonical-number.ts";

test("a number is written as ECMAScript writes it", () => {
  const cases: Record<string, string> = {
    "0": "0",
    "-0": "0",
    "1.0": "1",
    "1e2": "100",
    "1E21": "1e+21",
    "0.0000001": "1e-7",
    "-12.50": "-12.5",
    "123456789012345": "123456789012345",
    "0.00000001234567890123": "1.234567890123e-8",
    "1234567890123450000000000": "1.23456789012345e+24",
    "0e999": "0",
    "-0.00000000000000000000": "0",
    "100000000000000000000e-20": "1",
  };
  for (const [token, text] of Object.entries(cases))
    for (const exact of [true, false]) assert.equal(canonicalNumber(token, exact), text, `${token} ${exact}`);
});

test("a number that no double is stays as it was written if it has to be exact, and else becomes the nearest one", () => {
  const cases: Record<string, string> = {
    "12345678901234567890": "12345678901234567000",
    "9007199254740993": "9007199254740992",
    "0.10000000000000000001": "0.1",
    "1.00000000000000000001e2": "100",
    "1e-400": "0",
    "-12345678901234567891": "-12345678901234567000",
  };
  for (const [token, nearest] of Object.entries(cases)) {
    assert.equal(canonicalNumber(token, true), token);
    assert.equal(canonicalNumber(token, false), nearest);
  }
});

test("a number beyond all doubles stays as it was written", () => {
  for (const exact of [true, false])
    assert.deepEqual([canonicalNumber("1e400", exact), canonicalNumber("-1e400", exact)], ["1e400", "-1e400"]);
});
