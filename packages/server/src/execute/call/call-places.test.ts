import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import { sampleState, sampleStep } from "../steps/sample-state.ts";
import { CallPlaces, placeForWait } from "./call-places.ts";

const run = 1 as RunNo;
const early = { sequence: 1, at: 100 };
const late = { sequence: 9, at: 200 };

test("the call that ran the last step counts for the next call, and for that one only", () => {
  const places = new CallPlaces();
  assert.deepEqual(places.take(run, early), early);
  places.remember(run, early);
  assert.deepEqual(places.take(2 as RunNo, late), late);
  assert.deepEqual(places.take(run, late), early);
  assert.deepEqual(places.take(run, late), late);
});

test("runs that never call again are forgotten in the end", () => {
  const places = new CallPlaces();
  for (let no = 1; no <= 10_001; no++) places.remember(no as RunNo, early);
  assert.deepEqual(places.take(run, late), late);
  assert.deepEqual(places.take(10_001 as RunNo, late), early);
});

test("after a wait has ended, nothing from before the call counts", () => {
  const withWait = (endedAt: number | null) => sampleState({ steps: [sampleStep("w", { kind: "wait", status: "waiting", endedAt })] });
  assert.deepEqual(placeForWait(sampleState(), early, late), early);
  assert.deepEqual(placeForWait(withWait(null), early, late), early);
  assert.deepEqual(placeForWait(withWait(99), early, late), early, "it ended before the step began");
  assert.deepEqual(placeForWait(withWait(100), early, late), late);
});
