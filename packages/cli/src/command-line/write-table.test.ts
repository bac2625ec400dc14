import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { fieldsText, tableText } from "./write-table.ts";

const TABLE = {
  headings: ["ID", "NAME"],
  rows: [
    ["1", "a\u001b[31m\nb"],
    ["22", null],
  ],
  empty: "Nothing.",
};
const plain = (columns?: number) => stripVTControlCharacters(tableText(TABLE, columns));

test("columns line up, nothing draws on the terminal, and the edge of it is kept", () => {
  assert.equal(plain(), "ID  NAME\n1   a\\x1b[31m\\x0ab\n22  -");
  assert.equal(plain(8), "ID  NAME\n1   a\\x…\n22  -");
  assert.equal(tableText({ ...TABLE, rows: [] }, 80), "Nothing.");
});

test("fields that are not there are left out", () => {
  assert.equal(
    stripVTControlCharacters(
      fieldsText([
        ["a", "1\n2"],
        ["long", null],
        ["bc", "3"],
      ]),
    ),
    "a   1\n    2\nbc  3",
  );
});
