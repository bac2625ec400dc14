import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BODY_BYTES_MAX_DEFAULT,
  DATA_DEPTH_MAX,
  DEDUP_ID_UNITS_MAX,
  DEDUP_WINDOW_MS_DEFAULT,
  EVENT_NAME_UNITS_MAX,
  EVENTS_PER_REQUEST_MAX,
  eventNameFault,
  FAULTS_REPORTED_MAX,
  TS_MS_MAX,
} from "./event-rules.ts";

test("limits are those the documentation names", () => {
  assert.deepEqual([EVENT_NAME_UNITS_MAX, DEDUP_ID_UNITS_MAX, DATA_DEPTH_MAX, EVENTS_PER_REQUEST_MAX], [256, 512, 512, 5_000]);
  assert.deepEqual([FAULTS_REPORTED_MAX, BODY_BYTES_MAX_DEFAULT, DEDUP_WINDOW_MS_DEFAULT], [100, 524_288, 86_400_000]);
  assert.equal(new Date(TS_MS_MAX).getTime(), TS_MS_MAX);
  assert.ok(Number.isNaN(new Date(TS_MS_MAX + 1).getTime()));
});

test("a name is a text that is not empty, not too long, and without control characters", () => {
  for (const name of ["a", "shop/order.created", "x".repeat(256), " ", "~", "\u00a0", "é😀", "ordre/ï", "in", "i", "inlets/x", "inle/t"])
    assert.equal(eventNameFault(name), null, name);
  assert.equal(eventNameFault(undefined), "is required");
  for (const name of [null, 5, true, {}, []]) assert.equal(eventNameFault(name), "must be a string");
  assert.equal(eventNameFault(""), "must not be empty");
  assert.equal(eventNameFault("x".repeat(257)), "must be at most 256 characters, this one has 257");
  for (const character of ["\u0000", "\u001f", "\n", "\u007f", "\u0080", "\u009f"])
    assert.equal(eventNameFault(`a${character}b`), "must not contain control characters", JSON.stringify(character));
});

test("names of the service itself are refused, in large letters too", () => {
  for (const name of ["inlet/", "inlet/x", "INLET/x", "Inlet/x"])
    assert.match(eventNameFault(name) ?? "", /^must not start with "inlet\/"/);
  for (const name of ["inngest/function.failed", "InnGest/x"])
    assert.match(eventNameFault(name) ?? "", /^must not start with "inngest\/".*reserved/);
  for (const name of ["my/inlet/x", "inlet", "inngest.x", "\u0130nlet/x"]) assert.equal(eventNameFault(name), null, name);
});
