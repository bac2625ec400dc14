import assert from "node:assert/strict";
import test from "node:test";
import { canonicalJson } from "./canonical-json.ts";

test("writes what RFC 8785 shows in its examples", () => {
  const example = {
    // biome-ignore lint/correctness/noPrecisionLoss: the RFC's own example
    numbers: [333333333.33333329, 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '\u20ac$\u000f\nA\'B"\\\\"/',
    literals: [null, true, false],
  };
  const expected =
    '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}';
  assert.equal(canonicalJson(example), expected);
  const keys = {
    "\u20ac": "Euro",
    "\r": "CR",
    "\ufb33": "Dagesh",
    "1": "One",
    "\ud83d\ude00": "Smiley",
    "\u0080": "Control",
    "\u00f6": "o",
  };
  const names = Object.values(JSON.parse(canonicalJson(keys)) as object);
  // "1" leads because objects list whole numbers first; the text itself has it second.
  assert.deepEqual(names, ["One", "CR", "Control", "o", "Euro", "Smiley", "Dagesh"]);
  assert(canonicalJson(keys).startsWith('{"\\r":"CR","1":"One"'));
});
