import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo, StepId } from "@inlet/protocol";
import { DISCOVERY_ENTRY, sampleState } from "../../test/support/sample-state.ts";
import type { ClaimedEntry } from "../store/contract/index.ts";
import { HEADER_NAMES } from "./call/header-names.ts";
import { givenUp } from "./call/no-response.ts";
import { type CallingNode, RunCalls, type RunCallsParts } from "./run-calls.ts";

const ENTRY = DISCOVERY_ENTRY as unknown as ClaimedEntry;
const [THERE, REMOVED] = [{ app: { removedAt: null } }, { app: { removedAt: 5 } }];

test("a run of a function that this node does not know yet is given back; only one whose app is gone fails", async () => {
  for (const [before, after, outcome] of [
    [undefined, THERE, "released"],
    [REMOVED, THERE, "released"],
    [undefined, undefined, "failed: Its app was removed."],
    [REMOVED, REMOVED, "failed: Its app was removed."],
  ] as const) {
    let known: object | undefined = before;
    const outcomes: string[] = [];
    const parts = {
      store: { runContext: async () => ({ run: { startedAt: null } }) },
      functionOf: () => known,
      async refreshFunctions() {
        known = after;
      },
    } as unknown as RunCallsParts;
    const node = {
      runs: { fail: async (_entry: ClaimedEntry, _runNo: RunNo, reason: string) => void outcomes.push(`failed: ${reason}`) },
      release: async () => void outcomes.push("released"),
    } as unknown as CallingNode;
    await new RunCalls(parts, node).work({ ...ENTRY, stepId: null }, 1 as RunNo, new AbortController().signal);
    assert.deepEqual(outcomes, [outcome]);
  }
});

test("a function to invoke that this node does not know yet is read about before the response is decided on", async () => {
  for (const [isKnown, expected] of [
    [false, ["refreshed", "decided"]],
    [true, ["decided"]],
  ] as const) {
    const happened: string[] = [];
    const operation = { op: "InvokeFunction", id: "other", opts: { function_id: "shop-other", payload: { data: {} } } };
    const target = {
      app: { removedAt: null, url: "http://app.test", headers: "service" },
      url: "http://app.test",
      timeouts: {},
      retries: 3,
    };
    const parts = {
      store: { runContext: async () => ({ run: { ...sampleState().run, startedAt: 1 }, steps: [], events: [] }) },
      functionOf: () => target,
      refreshFunctions: async () => void happened.push("refreshed"),
      limitedLane: () => null,
      signing: () => ({ kind: "unsigned" }),
      steps: { invokesUnknown: () => !isKnown },
      caller: {
        call: async () => ({ status: 206, headers: { [HEADER_NAMES.service.sdk]: "js:test" }, body: JSON.stringify([operation]) }),
      },
      clock: { now: () => 5 },
      onCall: () => {},
    } as unknown as RunCallsParts;
    const node = {
      runs: { advance: async () => happened.push("decided") > 0 },
      poison: { guard: (_entry: ClaimedEntry, _phase: string, work: () => Promise<unknown>) => work() },
      untilWritten: (write: () => Promise<unknown>) => write(),
      isStopping: () => false,
    } as unknown as CallingNode;
    await new RunCalls(parts, node).work({ ...ENTRY, stepId: null }, 1 as RunNo, new AbortController().signal);
    assert.deepEqual(happened, expected);
  }
});

test("a run that was cancelled before its start could be stored is not called", async () => {
  const happened: string[] = [];
  const parts = {
    store: {
      runContext: async () => ({ run: { startedAt: null } }),
      queueRemove: async () => void happened.push("removed"),
    },
    functionOf: () => ({ ...THERE, timeouts: { startMs: 1_000, finishMs: null } }),
    limitedLane: () => null,
    clock: { now: () => 5 },
  } as unknown as RunCallsParts;
  const node = {
    runs: { advance: async () => false },
    poison: { guard: () => assert.fail("called") },
    untilWritten: (write: () => Promise<unknown>) => write(),
  } as unknown as CallingNode;
  await new RunCalls(parts, node).work({ ...ENTRY, stepId: null }, 1 as RunNo, new AbortController().signal);
  assert.deepEqual(happened, ["removed"]);
});

test("a call whose lease expired before it was sent is given back: of the app, and of the address that a step asks for", async () => {
  for (const stepId of [null, "ask" as StepId]) {
    let now = 5;
    const happened: string[] = [];
    // The node stands still while it connects.
    const send = async ({ maySend }: { maySend(): boolean }) => {
      now = 20;
      happened.push(maySend() ? "sent" : "given up");
      throw givenUp();
    };
    const parts = {
      store: {
        runContext: async () => ({ run: { ...sampleState().run, startedAt: 1 }, steps: [], events: [] }),
        stepRequest: async () => ({ kind: "fetch", request: { url: "http://app.test", method: "GET", headers: {}, body: null } }),
      },
      functionOf: () => ({ app: { removedAt: null, headers: "service" }, url: "http://app.test", timeouts: {}, retries: 3 }),
      limitedLane: () => null,
      signing: () => ({ kind: "unsigned" }),
      caller: { call: send, fetch: send },
      clock: { now: () => now },
    } as unknown as RunCallsParts;
    const node = {
      runs: { advance: () => assert.fail("an attempt was recorded") },
      poison: { guard: (_entry: ClaimedEntry, _phase: string, work: () => Promise<unknown>) => work() },
      release: async () => void happened.push("released"),
      isStopping: () => false,
    } as unknown as CallingNode;
    await new RunCalls(parts, node).work({ ...ENTRY, stepId, leasedUntil: 10 }, 1 as RunNo, new AbortController().signal);
    assert.deepEqual(happened, ["given up", "released"]);
  }
});
