import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonMember, joinMembers, jsonElementsMembers, jsonMembers } from "./json-text.ts";

function texts(text: string, members: JsonMember[]): [string, string][] {
  return members.map(({ key, start, end }) => [key, text.slice(start, end)]);
}

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

test("elements that are no objects are null", () => {
  const text = '[ {"a":1}, 2 ,"]", [ {"b":2} ], null,{} ]';
  assert.deepEqual(
    jsonElementsMembers(text).map((members) => members && texts(text, members)),
    [[["a", "1"]], null, null, null, null, []],
  );
});

test("depth counts the containers of a value", () => {
  const text = '{"none":1,"one":{},"two":{"a":[]},"three":[[[],{}]]}';
  assert.deepEqual(
    jsonMembers(text).map(({ depth }) => depth),
    [0, 1, 2, 3],
  );
});

test("nesting as deep as a body can hold costs no stack", () => {
  const deep = 250_000;
  const text = `{"data":${"[".repeat(deep)}${"]".repeat(deep)}}`;
  assert.equal(jsonMembers(text)[0]?.depth, deep);
});

test("joined members are the object again", () => {
  const text = '{"a": 12345678901234567890, "\\ud800":"x", "c":{"d": [1]}}';
  const joined = joinMembers(text, jsonMembers(text));
  assert.equal(joined, '{"a":12345678901234567890,"\\ud800":"x","c":{"d": [1]}}');
});

test("random documents: every member's text parses to the member's value", () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = createRandom(seed);
  for (let i = 0; i < 2_000; i++) {
    const document = randomObject(random, 4);
    const text = JSON.stringify(document, null, random() < 0.5 ? 2 : undefined);
    for (const { key, start, end } of jsonMembers(text)) {
      assert.deepEqual(JSON.parse(text.slice(start, end)), document[key], `seed ${seed}, document ${text}`);
    }
  }
});

/** A small generator of its own, so that a failure can be repeated from its seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
}

function randomObject(random: () => number, depth: number): Record<string, unknown> {
  const size = Math.floor(random() * 5);
  return Object.fromEntries(Array.from({ length: size }, () => [randomText(random), randomValue(random, depth)]));
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
