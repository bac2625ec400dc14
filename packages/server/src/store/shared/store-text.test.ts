import assert from "node:assert/strict";
import { test } from "node:test";
import { fromStoreJson, fromStoreText, toStoreJson, toStoreText } from "./store-text.ts";

const TEXTS = [
  "",
  "plain",
  "back\\slash \\u0000 \\ud800",
  "\0",
  "\ud800",
  "\udc00\ud800",
  "😀",
  "a\0b\ud83d",
  "\uFDD0",
  "\uFDD00000",
  "\uFDD0fdd0",
  "\n\t\"'\u0001",
];

test("every text survives, as text that a database can store, and no two become equal", () => {
  const stored = TEXTS.map(toStoreText);
  for (const text of stored) assert.ok(text.isWellFormed() && !text.includes("\0"), JSON.stringify(text));
  assert.deepEqual(stored.map(fromStoreText), TEXTS);
  assert.equal(new Set(stored).size, TEXTS.length);
});

test("a prefix stays a prefix", () => {
  for (const text of TEXTS) for (const end of TEXTS) assert.ok(toStoreText(`${text}.${end}`).startsWith(toStoreText(`${text}.`)));
});

test("text without NUL, lone surrogates and the escape character is stored as it is", () => {
  for (const text of ["", "back\\slash", '{"a":"\\u0000\\ud800\\\\"}', "😀"]) assert.equal(toStoreText(text), text);
});

test("strings inside JSON are stored like others", () => {
  const rows = TEXTS.map((text) => ({ text, json: JSON.stringify({ text }), n: 1, none: null }));
  const json = toStoreJson(rows);
  assert.ok(json.isWellFormed() && !json.includes("\0"));
  const read = JSON.parse(json) as typeof rows;
  assert.deepEqual(
    read.map(({ text }) => text),
    TEXTS.map(toStoreText),
  );
  assert.deepEqual(
    read.map(({ json }) => json),
    rows.map(({ json }) => toStoreText(json)),
  );
  assert.deepEqual(fromStoreJson(json), rows);
});
