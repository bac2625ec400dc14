import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run, RunCall, RunStep } from "../api/types.ts";
import { type Phase, runPhases, stepPhases, totalsOf } from "./phases.ts";

const T0 = Date.parse("2026-11-16T02:14:00.000Z");
const at = (ms: number) => new Date(T0 + ms).toISOString();

function step(changes: Partial<RunStep> & { from: number; to: number | null }): RunStep {
  const { from, to, ...rest } = changes;
  return {
    id: "s",
    name: "Step",
    kind: "run",
    status: "completed",
    attempts: 1,
    output: null,
    error: null,
    until: null,
    eventName: null,
    eventId: null,
    signal: null,
    approvalId: null,
    childRunId: null,
    startedAt: at(from),
    endedAt: to === null ? null : at(to),
    ...rest,
  };
}

function call(from: number, to: number, changes: Partial<RunCall> = {}): RunCall {
  const request = { method: "POST", path: "/", steps: [] };
  const times = { startedAt: at(from), endedAt: at(to) };
  return { stepId: null, attempt: 0, outcome: "ok", ...times, httpStatus: 206, request, answer: null, logs: null, ...changes };
}

function run(changes: Partial<Run>): Run {
  return { createdAt: at(0), endedAt: null, steps: [], attempts: [], calls: [], ...changes } as Run;
}

const shown = (phases: Phase[]) => phases.map(({ kind, from, to }) => `${kind} ${from - T0}-${to - T0}`);

const failure = (attempt: number, from: number, to: number) => ({
  attempt,
  stepId: "s",
  startedAt: at(from),
  endedAt: at(to),
  httpStatus: 206,
  outcome: "error",
  error: { name: "Error", message: "no" },
});

/** Four attempts of some 90 ms, a second apart. */
const RETRIED = run({
  endedAt: at(3_500),
  calls: [0, 1, 2]
    .map((n) => call(n * 1_000 + 100, n * 1_000 + 190, { outcome: "error", attempt: n }))
    .concat(call(3_100, 3_200, { attempt: 3 })),
  attempts: [0, 1, 2].map((n) => failure(n, n * 1_000 + 100, n * 1_000 + 190)),
});

test("a step that was retried shows its executions and the waits between them, not one long bar", () => {
  const phases = stepPhases(RETRIED, step({ from: 100, to: 3_195 }), T0 + 9_000);
  assert.deepEqual(shown(phases), [
    "failed 100-190",
    "retry 190-1100",
    "failed 1100-1190",
    "retry 1190-2100",
    "failed 2100-2190",
    "retry 2190-3100",
    "execute 3100-3195",
  ]);
  assert.deepEqual(
    phases.flatMap(({ attempt }) => attempt ?? []),
    [1, 2, 3, 4],
  );
  assert.equal(totalsOf(phases).get("failed"), 270);
});

test("the run itself shows the wait before its first call, calls, and waits between them", () => {
  assert.deepEqual(shown(runPhases(RETRIED, T0 + 9_000)).slice(0, 4), [
    "queue 0-100",
    "failed 100-190",
    "retry 190-1100",
    "failed 1100-1190",
  ]);
  assert.equal(shown(runPhases(RETRIED, T0 + 9_000)).at(-1), "queue 3200-3500");
});

test("a sleep ends when its time has come; what follows is a wait in the queue", () => {
  const nap = step({ kind: "sleep", from: 100, to: 1_130, until: at(1_100) });
  const slept = run({ endedAt: at(1_200), steps: [nap], calls: [call(50, 105), call(1_125, 1_200)] });
  assert.deepEqual(shown(stepPhases(slept, nap, T0)), ["sleep 100-1100", "queue 1100-1130"]);
  assert.deepEqual(shown(runPhases(slept, T0)), ["queue 0-50", "execute 50-105", "sleep 105-1100", "queue 1100-1125", "execute 1125-1200"]);
});

test("a planned step waits in the queue until its call; a wait for an event is a wait", () => {
  const parallel = run({ calls: [call(0, 10), call(40, 90, { stepId: "s" })] });
  assert.deepEqual(shown(stepPhases(parallel, step({ from: 10, to: 88 }), T0)), ["queue 10-40", "execute 40-88"]);
  assert.deepEqual(shown(stepPhases(parallel, step({ kind: "wait", status: "waiting", from: 10, to: null }), T0 + 500)), ["wait 10-500"]);
});

test("an open step goes on until now: executing, or waiting for its retry", () => {
  assert.deepEqual(shown(stepPhases(run({}), step({ status: "running", from: 10, to: null }), T0 + 80)), ["execute 10-80"]);
  const failed = run({ attempts: [failure(0, 10, 20)] });
  assert.deepEqual(shown(stepPhases(failed, step({ status: "planned", from: 10, to: null }), T0 + 80)), ["failed 10-20", "retry 20-80"]);
});

test("a step that failed for good ends with its last failed attempt", () => {
  const gone = run({ attempts: [failure(0, 10, 20)], calls: [call(8, 25, { outcome: "error" })] });
  assert.deepEqual(shown(stepPhases(gone, step({ status: "failed", from: 10, to: 22 }), T0)), ["failed 10-20"]);
});

test("a failure that is not retried is followed by no wait for a retry", () => {
  const failed = step({ status: "failed", from: 10, to: 20 });
  const calls = [call(0, 20, { outcome: "error" }), call(30, 40, { outcome: "error" })];
  const ended = run({ status: "failed", endedAt: at(55), steps: [failed], calls, attempts: [failure(0, 10, 20)] });
  assert.deepEqual(shown(runPhases(ended, T0)), ["failed 0-20", "queue 20-30", "failed 30-40"]);
  const waiting = run({ status: "running", steps: [failed], calls: calls.slice(0, 1), attempts: [failure(0, 10, 20)] });
  assert.deepEqual(shown(runPhases(waiting, T0 + 50)), ["failed 0-20", "queue 20-50"]);
});
