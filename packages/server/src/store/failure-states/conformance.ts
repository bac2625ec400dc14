import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeScene } from "../conformance/run-samples.ts";

export function failureStateConformance(engine: Engine): void {
  test(`${engine.name}: of decisions about a group of failures the last one is kept, until it is taken back`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const { environment } = await makeScene(store);
    const of = { environmentId: environment.id };
    assert.deepEqual(await store.failureStateList(of), []);
    const decided = { decision: "ignored", decidedAt: 1_000, decidedBy: "Ada" } as const;
    await store.failureStateSet({ ...of, key: "a", ...decided });
    await store.failureStateSet({ ...of, key: "b", ...decided });
    await store.failureStateSet({ ...of, key: "a", decision: "resolved", decidedAt: 2_000, decidedBy: "Grace\0" });
    await store.failureStateDelete({ ...of, key: "b" });
    await store.failureStateDelete({ ...of, key: "never" });
    const kept = await (await reopen()).failureStateList(of);
    assert.deepEqual(kept, [{ key: "a", decision: "resolved", decidedAt: 2_000, decidedBy: "Grace\0" }]);
  });
}
