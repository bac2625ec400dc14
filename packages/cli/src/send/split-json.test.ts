import assert from "node:assert/strict";
import { test } from "node:test";
import { JsonSplitter } from "./split-json.ts";

function split(text: string, chunkUnits = text.length): { text: string; line: number }[] {
  const splitter = new JsonSplitter("in");
  const values = [];
  for (let at = 0; at < text.length; at += chunkUnits) values.push(...splitter.push(text.slice(at, at + chunkUnits)));
  return [...values, ...splitter.end()];
}

const texts = (text: string, chunkUnits?: number) => split(text, chunkUnits).map((value) => value.text);

test("one value, an array, lines, and mixtures, however they are cut into chunks", () => {
  const cases: [string, string[]][] = [
    ['{"a":1}', ['{"a":1}']],
    [' [ {"a":[1,{"b":"]}\\""}]} ,\n{} ] ', ['{"a":[1,{"b":"]}\\""}]}', "{}"]],
    ['{"a":1}\n{"b":2}\r\n\n{"c":3}', ['{"a":1}', '{"b":2}', '{"c":3}']],
    ['[{"a":1}]\n[{"b":2},{"c":[[]]}]\n{}', ['{"a":1}', '{"b":2}', '{"c":[[]]}', "{}"]],
    ["[]", []],
    ["", []],
    ["[1,null, true]", ["1", "null", "true"]],
    ["12", ["12"]],
    ["[[1],[2]]", ["[1]", "[2]"]],
    ["\uFEFF{}", ["{}"]],
    ['{"n":12345678901234567890.10}', ['{"n":12345678901234567890.10}']],
  ];
  for (const [text, expected] of cases) {
    for (const chunkUnits of [1, 2, 3, 7, 1_000]) assert.deepEqual(texts(text, chunkUnits), expected, `${text} by ${chunkUnits}`);
  }
});

test("values know the line they begin on", () => {
  const lines = (text: string) => split(text).map(({ line }) => line);
  assert.deepEqual(lines('{\n"a":1}\n\n{}'), [1, 4]);
  assert.deepEqual(lines("[\n{},\n{\n}]"), [2, 3]);
});

test("what is no sequence of values is refused with its line", () => {
  for (const [text, message] of [
    ["[{}", /^in:1: the array that starts here is not closed/],
    ['\n{"a":', /^in:2: the input ends inside/],
    ["[{},]", /is unexpected here/],
    ["[,{}]", /is unexpected here/],
    ["[{}{}]", /is unexpected here/],
    ["{},{}", /is unexpected here/],
    ["]", /is unexpected here/],
  ] as const) {
    assert.throws(() => split(text), { message }, text);
  }
});
