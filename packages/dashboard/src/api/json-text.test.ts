import assert from "node:assert/strict";
import { test } from "node:test";
import { entriesOf, formatJson, kindOf, membersOf, objectText, readJsonText } from "./json-text.ts";

const SAMPLES = [
  "{}",
  "[]",
  " [ ] ".trim(),
  '{"a":1}',
  '{"a":{"b":[1,"}",{"c":"]\\""}]},"d":"\\\\","e":[],"f":{}}',
  '[1,-2.50e+10,"x",true,false,null,[[]],{"":""}]',
  '{"\\u0061\\n":"\\ud83d\\ude00","tab":"\\t"}',
  '{ "a" : [ 1 ,\n 2 ] , "b" : { "c" : 3 } }',
];

test("entries keep the original text of each value", () => {
  const text = '{"amount":12345678901234567890.100,"twice":1,"twice":2,"nested":{"x":[1e400,-0]}}';
  assert.deepEqual(entriesOf(text), [
    { key: "amount", text: "12345678901234567890.100" },
    { key: "twice", text: "1" },
    { key: "twice", text: "2" },
    { key: "nested", text: '{"x":[1e400,-0]}' },
  ]);
  assert.equal(membersOf(text).get("twice"), "2");
});

test("reading entries gives the same values as JSON.parse", () => {
  function rebuilt(text: string): unknown {
    const kind = kindOf(text);
    if (kind === "array") return entriesOf(text).map((entry) => rebuilt(entry.text));
    if (kind === "object") return Object.fromEntries(entriesOf(text).map(({ key, text: value }) => [key, rebuilt(value)]));
    return JSON.parse(text);
  }
  for (const sample of SAMPLES) {
    assert.deepEqual(rebuilt(sample), JSON.parse(sample), sample);
    assert.deepEqual(JSON.parse(formatJson(sample)), JSON.parse(sample), sample);
  }
});

test("formatting changes only whitespace between tokens", () => {
  assert.equal(formatJson('{"a":[1.0,{}],"a":9007199254740993}'), '{\n  "a": [\n    1.0,\n    {}\n  ],\n  "a": 9007199254740993\n}');
  assert.equal(
    objectText([
      ["a", "1.0"],
      ["b", '"x"'],
    ]),
    '{"a":1.0,"b":"x"}',
  );
});

test("invalid JSON is recognised", () => {
  assert.equal(readJsonText('  {"a":1}\n'), '{"a":1}');
  assert.equal(readJsonText("{a:1}"), null);
  assert.equal(readJsonText(""), null);
});
