import assert from "node:assert/strict";
import { test } from "node:test";
import { createDedupWindow } from "./dedup-window.ts";

test("an id counts as seen for the length of the window, back from when an event is received", () => {
  assert.equal(createDedupWindow(86_400_000).duplicateSince(100_000_000), 13_600_000);
  assert.equal(createDedupWindow(0).duplicateSince(5), 5);
});
