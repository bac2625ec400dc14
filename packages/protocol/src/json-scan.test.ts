import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonMember, joinMembers, jsonEntries, jsonMembers, scanJson } from "./json-scan.ts";

function texts(text: string, members: JsonMember[]): [string, string][] {
  return members.map(({ key, start, end }) => [key, text.slice(start, end)]);
}

/** Whether the scanner found in a text what JSON.parse finds: of members given twice, the last counts. */
function assertFound(text: string, message = text): void {
  const value: unknown = JSON.parse(text);
  const scanned = scanJson(text);
  if (typeof value !== "object" || value === null) return assert.equal(scanned, null, message);
  assert.ok(scanned, message);
  const objects = Array.isArray(value) ? value : [value];
  const members = "object" in scanned ? [scanned.object] : scanned.elements;
  assert.equal(members.length, objects.length, message);
  for (const [i, found] of members.entries()) {
    if (found === null) assert.ok(typeof objects[i] !== "object" || objects[i] === null || Array.isArray(objects[i]), message);
    else
      assert.deepEqual(
        new Map(texts(text, found).map(([key, part]) => [key, JSON.parse(part)])),
        new Map(Object.entries(objects[i])),
        message,
      );
  }
}

function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null;
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
  "[1;2]",
  "[{};{}]",
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

test("members come in the order written, with their text as written", () => {
  const text = ' {"b" : 1.50 ,"a":[1, {"x":"}"}] , "c":"q\\"uote","d":{},"e":-0.1e+10,"f":null } ';
  assert.deepEqual(texts(text, jsonMembers(text)), [
    ["b", "1.50"],
    ["a", '[1, {"x":"}"}]'],
    ["c", '"q\\"uote"'],
    ["d", "{}"],
    ["e", "-0.1e+10"],
    ["f", "null"],
  ]);
});

test("keys are compared by meaning, and given twice they appear twice", () => {
  const text = String.raw`{"d\u0061ta":1,"data":2,"__proto__":{"polluted":true}}`;
  assert.deepEqual(texts(text, jsonMembers(text)), [
    ["data", "1"],
    ["data", "2"],
    ["__proto__", '{"polluted":true}'],
  ]);
});

test("an escaped key is not taken for another one met before, as JSON.parse of V8 13.6 does", () => {
  const keys = (text: string) => jsonMembers(text).map(({ key }) => key);
  for (let i = 0; i < 20; i++) JSON.parse(String.raw`{"a":1,"\\":2}`);
  assert.deepEqual(keys(String.raw`{"a":1,"\\":2}`), ["a", "\\"]);
  assert.deepEqual(keys(String.raw`{"a":1,"\"":2}`), ["a", '"']);
  assert.deepEqual(keys(String.raw`{"a":1,"\n":2}`), ["a", "\n"]);
});

test("entries are members or elements, with their text as written", () => {
  const entries = (text: string) => jsonEntries(text).map(({ key, start, end }) => [key, text.slice(start, end)]);
  assert.deepEqual(entries('{"a":1.0,"a":[2]}'), [
    ["a", "1.0"],
    ["a", "[2]"],
  ]);
  assert.deepEqual(entries(' [1e400 , "]", [ ] ,{"b":0}]'), [
    [null, "1e400"],
    [null, '"]"'],
    [null, "[ ]"],
    [null, '{"b":0}'],
  ]);
  assert.deepEqual([entries("[]"), entries("{}")], [[], []]);
  for (const text of ["[1,]", "[1", "[,1]", "[1 2]", "1", "", '{"a":}']) assert.throws(() => jsonEntries(text), TypeError, text);
});

test("elements that are no objects are null", () => {
  const text = '[ {"a":1}, 2 ,"]", [ {"b":2} ], null,{} ]';
  const scanned = scanJson(text);
  assert.ok(scanned && "elements" in scanned);
  assert.deepEqual(
    scanned.elements.map((members) => members && texts(text, members)),
    [[["a", "1"]], null, null, null, null, []],
  );
});

test("depth counts the containers of a value", () => {
  const text = '{"none":1,"one":{},"two":{"a":[]},"three":[[[],{}]],"firstDeeper":[[[]],[]]}';
  assert.deepEqual(
    jsonMembers(text).map(({ depth }) => depth),
    [0, 1, 2, 3, 3],
  );
});

test("nesting as deep as a body can hold costs no stack", () => {
  const deep = 250_000;
  const text = `{"data":${"[".repeat(deep)}${"]".repeat(deep)}}`;
  assert.equal(jsonMembers(text)[0]?.depth, deep);
  const mixed = `{"data":${'[{"a":'.repeat(deep)}1${"}]".repeat(deep)}}`;
  assert.equal(jsonMembers(mixed)[0]?.depth, 2 * deep);
});

test("members are asked only of an object", () => {
  for (const text of ["[]", "1", "{"])
    assert.throws(() => jsonMembers(text), { name: "TypeError", message: /not the text of a JSON object/ });
});

test("joined members are the object again", () => {
  const text = '{"a": 12345678901234567890, "\\ud800":"x", "c":{"d": [1]}}';
  const joined = joinMembers(text, jsonMembers(text));
  assert.equal(joined, '{"a":12345678901234567890,"\\ud800":"x","c":{"d": [1]}}');
});

test("what is JSON is found as by parsing it", () => {
  for (const text of GOOD) assertFound(text);
});

test("what is not JSON is never taken for it", () => {
  for (const text of BAD) {
    assert.ok(!isContainer(text), `JSON.parse takes ${text}`);
    assert.equal(scanJson(text), null, text);
  }
});

test("text that is neither object nor array is left to others", () => {
  for (const text of ["1", '"x"', "null", "true"]) assert.equal(scanJson(text), null);
});

test("random documents are found as by parsing them, and stay JSON only as long as JSON.parse says so", () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = createRandom(seed);
  for (let i = 0; i < 5_000; i++) {
    const value = random() < 0.5 ? randomObject(random, 4) : [randomObject(random, 3), randomValue(random, 2), 1, 2];
    const text = JSON.stringify(value, null, random() < 0.5 ? 2 : undefined);
    assertFound(text, `seed ${seed}: ${text}`);
    const damaged = damage(text, random);
    assert.equal(scanJson(damaged) !== null, isContainer(damaged), `seed ${seed}: ${damaged}`);
  }
});

function damage(text: string, random: () => number): string {
  const alphabet = [...'{}[]",:\\u0e1-+.tfn \n\t\0é'];
  const characters = [...text];
  for (let n = Math.floor(random() * 3); n >= 0; n--) {
    characters.splice(
      Math.floor(random() * (characters.length + 1)),
      Math.floor(random() * 2),
      alphabet[Math.floor(random() * alphabet.length)] ?? "",
    );
  }
  return characters.join("");
}

/** A small generator of its own, so that a failure can be repeated from its seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

/**
 * Keys hold nothing that must be escaped: having met the key `\\`, the JSON.parse of V8 13.6 takes `\"` for it, and could not be
 * the measure. The scanner, which reads keys one by one, does not mind.
 */
function randomObject(random: () => number, depth: number): Record<string, unknown> {
  const size = Math.floor(random() * 5);
  return Object.fromEntries(
    Array.from({ length: size }, () => [randomText(random).replace(/["\\\n\0\ud800]/g, ""), randomValue(random, depth)]),
  );
}

function randomValue(random: () => number, depth: number): unknown {
  const kind = Math.floor(random() * (depth > 0 ? 7 : 5));
  switch (kind) {
    case 0:
      return null;
    case 1:
      return random() < 0.5;
    case 2:
      return (random() - 0.5) * 10 ** Math.floor(random() * 40 - 20);
    case 3:
    case 4:
      return randomText(random);
    case 5:
      return Array.from({ length: Math.floor(random() * 4) }, () => randomValue(random, depth - 1));
    default:
      return randomObject(random, depth - 1);
  }
}

function randomText(random: () => number): string {
  const alphabet = ['"', "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "a", "é", "😀", "\ud800", "\u0000"];
  return Array.from({ length: Math.floor(random() * 6) }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}
