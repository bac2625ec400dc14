import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "./parse-json.ts";

function faultOf(text: string): string {
  const faults: string[] = [];
  assert.equal(parseJson("a.json", text, faults), undefined);
  assert.equal(faults.length, 1);
  return faults[0] ?? "";
}

test("a good text gives its value, with or without a byte order mark", () => {
  const faults: string[] = [];
  assert.deepEqual(parseJson("a.json", '\uFEFF{"a":[1]}', faults), { a: [1] });
  assert.deepEqual(faults, []);
});

test("a mistake is named with its line and column", () => {
  const cases: [string, string][] = [
    ['{\n  "a": 1,\n}', "a.json:3:1: Expected double-quoted property name (not valid JSON)"],
    ['{\n  "a": yes\n}', "a.json:2:8: Unexpected token 'y' (not valid JSON)"],
    ['{\n  "a": "y" // no\n}', "a.json:2:12: Expected ',' or '}' after property value (not valid JSON)"],
    ["// no\n{}", "a.json:1:1: Unexpected token '/' (not valid JSON)"],
    ['["ü",\n 1, x, y]', "a.json:2:5: Unexpected token 'x' (not valid JSON)"],
    ["", "a.json:1:1: Unexpected end (not valid JSON)"],
    ["[\n", "a.json:2:1: Unexpected end (not valid JSON)"],
    ["{}\nx", "a.json:2:1: Unexpected non-whitespace character after JSON (not valid JSON)"],
  ];
  for (const [text, fault] of cases) assert.equal(faultOf(text), fault, JSON.stringify(text));
});

test("also far into a long text", () => {
  const lines = Array.from({ length: 5_000 }, (_, i) => `  "${i}"`);
  lines[4_321] = '  "a", what';
  assert.equal(faultOf(`[\n${lines.join(",\n")}\n]`), "a.json:4323:8: Unexpected token 'w' (not valid JSON)");
});
