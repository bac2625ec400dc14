/** Runs in every state, for tests. */

import type { EntryNo, EnvironmentId, EventId, FunctionNo, LeaseId, RunId, RunNo, StepId } from "@inlet/protocol";
import type { CallFacts, CallResponse, CallResponseOf } from "../../src/execute/steps/call-response.ts";
import { readOperations } from "../../src/execute/steps/operations.ts";
import type { EntryRecord, RunRecord, RunState, StepRecord, StoredEvent } from "../../src/store/contract/index.ts";

export const NOW = 10_000;

export const SAMPLE_EVENT: StoredEvent = {
  id: "01EVENT" as EventId,
  sequence: 1,
  environmentId: 1 as EnvironmentId,
  receivedAt: 1_000,
  ts: 1_000,
  duplicates: 0,
  isMatched: false,
  name: "shop/order.created",
  dedupId: null,
  data: '{"order":1}',
  extras: null,
  source: { kind: "key", id: "k" },
};

const RUN: RunRecord = {
  no: 1 as RunNo,
  id: "01RUN" as RunId,
  environmentId: 1 as EnvironmentId,
  functionNo: 1 as FunctionNo,
  status: "running",
  lane: "app:1",
  eventSequence: 1,
  createdAt: 1_000,
  startedAt: 2_000,
  endedAt: null,
  requestVersion: 2,
  isParallel: false,
  stateBytes: 0,
  cron: null,
  originalRunId: null,
  jobId: null,
  invoker: null,
  orderKey: null,
};

export const DISCOVERY_ENTRY: EntryRecord = {
  no: 1 as EntryNo,
  kind: "call",
  stepId: null,
  attempt: 0,
  claims: 1,
  leaseId: "01LEASE" as LeaseId,
  rank: 0,
  rediscovers: false,
  eventSequence: null,
};

/** Discovery is under way unless other entries are given. */
export function sampleState(given: { run?: Partial<RunRecord>; steps?: StepRecord[]; entries?: EntryRecord[] } = {}): RunState {
  const { run, steps = [], entries = [DISCOVERY_ENTRY] } = given;
  return { run: { ...RUN, ...run }, steps, entries, events: () => [SAMPLE_EVENT] };
}

export function sampleStep(id: string, given: Partial<StepRecord> = {}): StepRecord {
  const isDone = given.status === "completed" || given.status === "failed";
  return {
    id: id as StepId,
    kind: "run",
    name: id,
    status: "planned",
    position: 0,
    donePosition: isDone ? 0 : null,
    startedAt: 2_000,
    endedAt: isDone ? 3_000 : null,
    attempts: 0,
    until: null,
    detail: null,
    ...given,
  };
}

export function sampleFacts(given: Partial<CallFacts> = {}): CallFacts {
  return {
    entry: DISCOVERY_ENTRY,
    startedAt: 9_000,
    endedAt: NOW,
    now: NOW,
    stepsGiven: 0,
    isPlanning: false,
    fetchesState: false,
    requestVersion: 2,
    retries: 2,
    retryAt: (attempt, retryAfterMs) => NOW + (retryAfterMs ?? 1_000 * (attempt + 1)),
    endEvents: () => [],
    sleepUntil: ({ name }) => (name === "bad" ? "it is bad." : NOW + Number(name)),
    ask: () => "nobody is here.",
    wait: ({ id, name }, _state, since) => ({
      kind: "event",
      eventName: name,
      expression: null,
      match: null,
      stepId: id,
      since,
      expiresAt: NOW + 500,
    }),
    invoke: ({ name }) =>
      name === "nobody" ? "there is none." : { childRunId: "01CHILD", eventId: "01E" as EventId, expiresAt: NOW + 900, events: [] },
    ...given,
  };
}

export function operations(list: object[], given: Partial<CallResponseOf<"operations">> = {}): CallResponse {
  return { kind: "operations", operations: readOperations(JSON.stringify(list)) ?? [], mayRetry: true, retryAfterMs: null, ...given };
}
