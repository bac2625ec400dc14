import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import { DISCOVERY_ENTRY } from "../../test/support/sample-state.ts";
import type { ClaimedEntry } from "../store/contract/index.ts";
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
