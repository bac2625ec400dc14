import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobId, WebhookId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { Environment, Reconciliation } from "../contract/index.ts";

const WEBHOOK = "wh_1" as WebhookId;

export function reconciliationConformance(engine: Engine): void {
  test(`${engine.name}: passes of reconciliation are listed by webhook, newest first, each once, and expire`, async (t) => {
    const { store } = await engine.open(t);
    const [home, other] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const passes = [
      sample(home, { jobId: "01A" as JobId, at: 1_000, startedAt: 900, isScheduled: true, recovered: 2, seen: 3, listed: 5 }),
      sample(home, { jobId: "01B" as JobId, at: 2_000, recovered: 1, error: "The provider did not answer." }),
      sample(home, { jobId: "01C" as JobId, at: 3_000, recovered: 4 }),
      sample(home, { jobId: "01D" as JobId, at: 3_000, recovered: 8, webhookId: "wh_2" as WebhookId }),
      sample(other, { jobId: "01E" as JobId, at: 3_000, recovered: 16 }),
    ];
    for (const pass of passes) await store.reconciliationAdd(pass);
    await store.reconciliationAdd({ ...(passes[0] as Reconciliation), recovered: 99 });
    const key = { environmentId: home.id, webhookId: WEBHOOK };
    const first = await store.reconciliationList({ ...key, limit: 2 });
    assert.deepEqual(first, { passes: [passes[2], passes[1]], next: "01B" });
    assert.deepEqual(await store.reconciliationList({ ...key, limit: 2, after: "01B" as JobId }), { passes: [passes[0]], next: null });
    assert.equal(await store.reconciliationLastScheduled(key), 900);
    assert.equal(await store.reconciliationLastScheduled({ ...key, webhookId: "wh_2" as WebhookId }), null);
    assert.equal(await store.reconciliationRecovered({ environmentId: home.id, since: 2_000 }), 13);
    assert.equal(await store.reconciliationExpireMany({ until: 2_000, limit: 1 }), 1);
    assert.equal(await store.reconciliationExpireMany({ until: 2_000, limit: 5 }), 1);
    assert.deepEqual(await store.reconciliationList({ ...key, limit: 2 }), { passes: [passes[2]], next: null });
  });
}

function sample({ id }: Environment, changes: Partial<Reconciliation>): Reconciliation {
  const counts = { listed: 0, seen: 0, recovered: 0, failed: 0, error: null };
  const times = { at: 0, startedAt: 0, since: 10, until: 20, isScheduled: false };
  return { environmentId: id, webhookId: WEBHOOK, jobId: "01" as JobId, ...times, ...counts, ...changes };
}
