import assert from "node:assert/strict";
import { test } from "node:test";
import { NOW, sampleState } from "../../test/support/sample-state.ts";
import type { RunAdvanceParams } from "../store/contract/index.ts";
import { RunAdvances } from "./run-advances.ts";

/** What it counts, if the store decides these states one after the other, and applies the last decision or not. */
async function starts(startedAt: readonly (number | null)[], { applied }: { applied: boolean }): Promise<number> {
  let counted = 0;
  const runAdvance = async ({ decide }: RunAdvanceParams) => {
    for (const at of startedAt) decide(sampleState({ run: { startedAt: at } }));
    return { applied, leased: [] };
  };
  const runs = new RunAdvances(
    {
      store: { runAdvance, queueRemove: async () => undefined },
      functionOf: () => undefined,
      endEvents: () => [],
      onStart: () => counted++,
      onEnd: () => undefined,
      tracing: null,
      clock: { now: () => NOW } as never,
    },
    { lease: () => ({}) as never, take: () => undefined, untilWritten: (write) => write() },
  );
  const { environmentId, no: runNo } = sampleState().run;
  await runs.advance({ environmentId, runNo, entry: null, decide: () => ({ startedAt: NOW }) });
  return counted;
}

test("the start of a run counts once it is stored: not that of a call whose lease was lost, and not again with the next call", async () => {
  assert.equal(await starts([null], { applied: true }), 1);
  assert.equal(await starts([null, null], { applied: true }), 1, "the store asked again");
  assert.equal(await starts([null], { applied: false }), 0, "another node has the lease, and makes the call again");
  assert.equal(await starts([5], { applied: true }), 0);
  assert.equal(await starts([null, 5], { applied: true }), 0, "another node stored the start between");
});
