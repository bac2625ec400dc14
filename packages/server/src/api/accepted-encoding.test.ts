import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptedEncoding } from "./accepted-encoding.ts";

const encodingOf = (text?: string) => acceptedEncoding({ headers: text === undefined ? {} : { "accept-encoding": text } });

test("the first encoding that is named and has a weight is used", () => {
  for (const [text, encoding] of [
    [undefined, null],
    ["", null],
    ["*", null],
    ["deflate", null],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["gzip ; q=0.5 , br;q=0", "gzip"],
    ["br; q=0.001", "br"],
  ] as const)
    assert.equal(encodingOf(text), encoding, text);
});

test("a header of many spaces is read at once", () => {
  // In quadratic time, it would take hours.
  assert.equal(encodingOf(`x${" ".repeat(4_000_000)}y, gzip`), "gzip");
});
