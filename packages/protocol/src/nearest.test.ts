import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "./nearest.ts";

test("a mistyped word is told from a strange one", () => {
  const known = ["list", "rerun", "cancel", "watch", "functions"];
  for (const [given, meant] of [
    ["lsit", "list"],
    ["reruns", "rerun"],
    ["cancle", "cancel"],
    ["func", "functions"],
    ["wacth", "watch"],
    ["explode", null],
    ["x", null],
  ] as const) {
    assert.equal(nearest(given, known), meant, given);
  }
});
