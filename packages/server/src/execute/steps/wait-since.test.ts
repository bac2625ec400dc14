import assert from "node:assert/strict";
import { test } from "node:test";
import type { StepKind } from "../../store/contract/index.ts";
import { waitSince } from "./wait-since.ts";

const ended = (kind: StepKind, endedAt: number | null) => ({ kind, endedAt });

test("events count since the step before ended, whatever order steps are listed in", () => {
  assert.equal(waitSince({ startedAt: 10 }, [ended("run", 50), ended("sleep", 30), ended("run", null)], 40), 50);
});

test("after a step that sends, they count since the one before that: the answer may be quicker than the step", () => {
  assert.equal(waitSince({ startedAt: 10 }, [ended("run", 20), ended("send", 30), ended("send", 40)], 25), 20);
  assert.equal(waitSince({ startedAt: 10 }, [ended("send", 30)], 25), 10);
});

test("without a step before, they count since the run began", () => {
  assert.equal(waitSince({ startedAt: 10 }, [], 40), 10);
  assert.equal(waitSince({ startedAt: null }, [], 40), 40);
});
