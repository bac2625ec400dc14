import assert from "node:assert/strict";
import { test } from "node:test";
import type { EntryNo, EnvironmentId, FunctionNo, LeaseId, RunId, RunNo, StepId } from "@inlet/protocol";
import type { EntryRecord, Lease, NewEntry, RunChange, RunRecord, RunState, StepRecord, StepWrite } from "../../contract/index.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { planRunWrites } from "./plan-run-writes.ts";

const NOW = 5_000;
const RUN: RunRecord = {
  no: 7 as RunNo,
  id: "01RUN" as RunId,
  environmentId: 1 as EnvironmentId,
  functionNo: 2 as FunctionNo,
  status: "running",
  lane: "app:1",
  eventSequence: 1,
  createdAt: 1_000,
  startedAt: 2_000,
  endedAt: null,
  requestVersion: 2,
  isParallel: false,
  stateBytes: 10,
  cron: null,
  originalRunId: null,
  jobId: null,
  invoker: null,
  orderKey: null,
};
const DISCOVERY: NewEntry = { kind: "call", stepId: null };

function entry(no: number, changes: Partial<EntryRecord> = {}): EntryRecord {
  return {
    no: no as EntryNo,
    kind: "call",
    stepId: null,
    attempt: 0,
    claims: 1,
    leaseId: `l${no}` as LeaseId,
    rank: RUN.createdAt,
    rediscovers: false,
    eventSequence: null,
    ...changes,
  };
}

function step(id: string, changes: Partial<StepRecord> = {}): StepRecord {
  const open = {
    kind: "run",
    name: id,
    status: "planned",
    position: 0,
    donePosition: null,
    startedAt: 1,
    endedAt: null,
    attempts: 0,
    until: null,
    detail: null,
  } as const;
  return { id: id as StepId, ...open, ...changes };
}

function done(id: string, value = "1"): StepWrite {
  const { position: _, donePosition: __, ...written } = step(id, { status: "completed", endedAt: NOW });
  return { ...written, value };
}

function plan(state: Partial<RunState>, worked: EntryRecord | null, change: RunChange, room = 10) {
  let ids = 0;
  const lease: Lease = { node: "n", until: 9_000, newId: () => `new${++ids}` as LeaseId, roomIn: () => room };
  const whole = { run: RUN, steps: [], entries: worked ? [worked] : [], events: () => [], ...state };
  const writes = planRunWrites(whole, worked, change, new LeaseAllocation(NOW, lease));
  const brief = {
    renewed: writes.entriesRenewed.map(({ no, write, position }) => [no, write.attempt, position.lane, position.lease?.id ?? null]),
    added: writes.entriesAdded.map(({ write, position }) => [write.kind, write.stepId, position.lane, position.lease?.id ?? null]),
    removed: writes.entriesRemoved,
    again: writes.entriesAgain,
  };
  return { writes, ...brief };
}

test("a step that has ended is never written again, and counts for nothing", () => {
  const ended = step("a", { status: "completed", endedAt: 3_000 });
  const { writes } = plan({ steps: [ended] }, entry(1), { steps: [done("a", "22"), done("b", "333"), done("b", "4444")] });
  assert.deepEqual(
    writes.steps.map(({ id, value, position, donePosition }) => [id, value, position, donePosition]),
    [["b", "333", 1, 1]],
  );
  assert.equal(writes.run.stateBytes, 13);
});

test("a step keeps the position it was found at, and gets its place in the order of ends when it ends", () => {
  const steps = [step("a"), step("b", { position: 1 })];
  const { writes } = plan({ steps }, entry(1), { steps: [done("b"), { ...done("a"), value: undefined as never, endedAt: null }] });
  assert.deepEqual(
    writes.steps.map(({ id, position, donePosition }) => [id, position, donePosition]),
    [
      ["b", 1, 0],
      ["a", 0, null],
    ],
  );
});

test("the entry worked on is done, unless the change says otherwise", () => {
  assert.deepEqual(plan({}, entry(1), {}).removed, [1]);
  assert.deepEqual(plan({}, entry(1), { entry: "keep" }).removed, []);
  assert.deepEqual(plan({}, entry(1), { entry: { retryAt: 8_000, attempt: 3 } }).renewed, [[1, 3, "timers", null]]);
  assert.deepEqual(plan({}, entry(1), { entries: [DISCOVERY] }).renewed, [[1, 0, "app:1", "new1"]], "the same goes again");
  assert.deepEqual(plan({}, entry(1, { rediscovers: true }), {}).renewed, [[1, 0, "app:1", "new1"]], "it was asked to");
  assert.deepEqual(plan({}, null, {}).removed, []);
});

test("what lets go of the entry frees its slots, what keeps it does not", () => {
  for (const change of [{}, { entry: { retryAt: 8_000, attempt: 1 } }, { entries: [DISCOVERY] }]) {
    assert.deepEqual(plan({}, entry(1), change).writes.slotsFreed, [1]);
  }
  for (const change of [{ entry: "keep" }, { entry: "reset-attempt" }] as const) {
    assert.deepEqual(plan({}, entry(1), change).writes.slotsFreed, []);
  }
});

test("there is one entry for each step: a discovery under way goes again, others stay", () => {
  const worked = entry(1, { stepId: "a" as StepId });
  const planned: NewEntry = { kind: "call", stepId: "b" as StepId };
  const waiting = entry(3, { leaseId: null });
  assert.deepEqual(plan({ entries: [worked, entry(2)] }, worked, { entries: [DISCOVERY, DISCOVERY] }).again, [2, 2]);
  const quiet = plan({ entries: [worked, waiting] }, worked, { entries: [DISCOVERY] });
  assert.deepEqual([quiet.again, quiet.added], [[], []], "one that waits will know everything");
  const twice = plan({ entries: [worked] }, worked, { entries: [planned, planned] });
  assert.deepEqual(twice.added, [["call", "b", "app:1", "new1"]]);
});

test("timers of steps that are settled go, their calls do not", () => {
  const timer = entry(2, { kind: "resume", stepId: "w" as StepId, leaseId: null });
  const ofStep = entry(3, { stepId: "w" as StepId });
  const { removed } = plan({ entries: [entry(1), timer, ofStep] }, entry(1), { settled: ["w" as StepId], entry: "keep" });
  assert.deepEqual(removed, [2]);
});

test("an end takes all entries with it but calls that are under way, and resumes who invoked the run", () => {
  const invoker = { runNo: 3 as RunNo, stepId: "i" as StepId };
  const entries = [
    entry(1),
    entry(2, { stepId: "a" as StepId }),
    entry(3, { stepId: "b" as StepId, leaseId: null }),
    entry(4, { kind: "wake" }),
  ];
  const end = { status: "completed", endedAt: NOW, output: "1", error: null } as const;
  const { writes, removed } = plan({ run: { ...RUN, invoker }, entries }, entry(1), { end, steps: [done("z")], entries: [DISCOVERY] });
  assert.deepEqual(removed, [1, 3, 4]);
  assert.deepEqual([writes.isEnd, writes.resumed, writes.entriesAdded, writes.slotsFreed], [true, invoker, [], [1]]);
  assert.deepEqual([writes.run.status, writes.run.output, writes.run.stateBytes], ["completed", "1", 11]);
});

test("without room entries wait in their lane, by the age of their run", () => {
  const { writes } = plan({}, entry(1), { entries: [{ kind: "call", stepId: "a" as StepId }] }, 0);
  assert.deepEqual(writes.entriesAdded[0]?.position, { lane: "app:1", rank: 1_000, dueAt: NOW, lease: null });
  const later: RunChange = { entries: [{ kind: "call", stepId: "a" as StepId }] };
  const rankAfter = (worked: EntryRecord | null, entries: EntryRecord[]) =>
    plan({ entries }, worked, later, 0).writes.entriesAdded[0]?.position.rank;
  const moved = entry(1, { rank: 601_000 });
  assert.equal(rankAfter(moved, [moved]), 601_000, "by its priority, or because a job started it");
  assert.equal(rankAfter(null, [moved]), 601_000);
  assert.equal(rankAfter(null, []), 1_000);
  const { writes: retried } = plan({}, moved, { entry: { retryAt: NOW + 1, attempt: 1 } }, 0);
  assert.equal(retried.entriesRenewed[0]?.write.rank, 601_000);
});
