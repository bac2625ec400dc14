import assert from "node:assert/strict";
import { test } from "node:test";
import { scanJson } from "./json-scan.ts";
import { jsonElementsMembers, jsonMembers } from "./json-text.ts";

/** What JSON.parse and the plain scanner of json-text.ts make of a text. */
function expected(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (Array.isArray(value)) return { elements: jsonElementsMembers(text) };
  return typeof value === "object" && value !== null ? { object: jsonMembers(text) } : null;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const GOOD = [
  "{}",
  "[]",
  " [ ] ",
  '{"a":1}',
  '\t{ "a" : [ 1 , -2.5e+10 , 0 , -0 , 1E5 ] , "b":{"c":{}} ,"d":"\\u00e9\\n\\"\\\\" }\r\n',
  '[{"a":true},{"b":false},null,"x",[{}],12,{}]',
  '{"":"","\\ud800":"\\udc00","é":"😀"}',
  '{"a":[[],[[]],{"b":[{"c":null}]}]}',
];

const BAD = [
  "",
  "{",
  "[",
  "{}}",
  "{} x",
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  "{,}",
  "[1,]",
  "[,1]",
  "[1 2]",
  '{"a":1 "b":2}',
  "{a:1}",
  "{'a':1}",
  '{"a":01}',
  '{"a":1.}',
  '{"a":.5}',
  '{"a":+1}',
  '{"a":1e}',
  '{"a":-}',
  '{"a":NaN}',
  '{"a":tru}',
  '{"a":nulll}',
  '{"a":"\n"}',
  '{"a":"\\x"}',
  '{"a":"\\u12g4"}',
  '{"a":"\\u123"}',
  '{"a":"}',
  '{"a":[}',
  '{"a":{]}',
  '{"a":[1}]',
  "[1]\u00a0",
  '\ufeff{"a":1}',
  '{"a":1}\0',
];

test("what is JSON is found the same as by parsing it", () => {
  for (const text of GOOD) assert.deepEqual(scanJson(text), expected(text), text);
});

test("what is not JSON is never taken for it", () => {
  for (const text of BAD) {
    assert.ok(!isJson(text), `JSON.parse takes ${text}`);
    assert.equal(scanJson(text), null, text);
  }
});

test("text that is neither object nor array is left to others", () => {
  for (const text of ["1", '"x"', "null", "true"]) assert.equal(scanJson(text), null);
});

test("very deep nesting is given up on, not overflowed", () => {
  const deep = (levels: number) => `{"data":${"[".repeat(levels)}${"]".repeat(levels)}}`;
  assert.deepEqual(scanJson(deep(1_000)), { object: jsonMembers(deep(1_000)) });
  assert.equal(scanJson(deep(100_000)), null);
});

test("random damage: the verdict never is kinder than JSON.parse", () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  let state = seed;
  const random = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) % below;
  };
  const alphabet = [...'{}[]",:\\u0e1-+.tfn \n\t\0é'];
  for (let i = 0; i < 20_000; i++) {
    const text = [...(GOOD[random(GOOD.length)] as string)];
    for (let n = 0; n <= random(3); n++) text.splice(random(text.length + 1), random(2), alphabet[random(alphabet.length)] as string);
    const damaged = text.join("");
    if (isJson(damaged)) assert.deepEqual(scanJson(damaged), expected(damaged), `seed ${seed}: ${damaged}`);
    else assert.equal(scanJson(damaged), null, `seed ${seed}: ${damaged}`);
  }
});
