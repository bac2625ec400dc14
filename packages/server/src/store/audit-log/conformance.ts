import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import type { AuditListParams, NewAuditEntry, Store } from "../contract/index.ts";

function sampleEntry(n: number, changes: Partial<NewAuditEntry> = {}): NewAuditEntry {
  return {
    at: n,
    actor: { kind: "api-key", id: "key_1", name: "ci" },
    action: "webhook.updated",
    target: { kind: "webhook", id: `wh_${n}`, name: "hook" },
    environment: null,
    details: "{}",
    ...changes,
  };
}

async function targets(store: Store, params: Partial<AuditListParams>): Promise<string[]> {
  return (await store.auditList({ limit: 10, ...params })).entries.map(({ target }) => target.id);
}

export function auditConformance(engine: Engine): void {
  test(`${engine.name}: audit entries are kept as written and filtered`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const entry = sampleEntry(1, { environment: "production", details: '{"fields":["name"]}' });
    await store.auditAppend(entry);
    await store.auditAppend(sampleEntry(2, { action: "webhook.deleted" }));
    await store.auditAppend(sampleEntry(3, { action: "key.created", actor: { kind: "session", id: "ses_1", name: "ann" } }));
    const again = await reopen();
    const { entries } = await again.auditList({ limit: 10, to: 2 });
    assert.deepEqual(entries, [{ ...entry, sequence: entries[0]?.sequence }]);
    assert.deepEqual(await targets(again, {}), ["wh_3", "wh_2", "wh_1"]);
    assert.deepEqual(await targets(again, { from: 2, to: 3 }), ["wh_2"]);
    assert.deepEqual(await targets(again, { action: "webhook.deleted" }), ["wh_2"]);
    assert.deepEqual(await targets(again, { action: "webhook.*" }), ["wh_2", "wh_1"]);
    assert.deepEqual(await targets(again, { actor: "session" }), ["wh_3"]);
    assert.deepEqual(await targets(again, { actor: "key_1" }), ["wh_2", "wh_1"]);
    assert.deepEqual(await targets(again, { environments: ["production", "staging"] }), ["wh_1"], "and none without an environment");
    assert.deepEqual(await targets(again, { environments: [] }), []);
  });

  test(`${engine.name}: audit pages meet without gap or overlap, also within one instant`, async (t) => {
    const { store } = await engine.open(t);
    for (const n of [1, 2, 3, 4, 5]) await store.auditAppend(sampleEntry(n, { at: 7 }));
    const seen: string[] = [];
    for (let after: AuditListParams["after"] | null; after !== null; ) {
      const page = await store.auditList({ limit: 2, ...(after && { after }) });
      seen.push(...page.entries.map(({ target }) => target.id));
      after = page.next;
    }
    assert.deepEqual(seen, ["wh_5", "wh_4", "wh_3", "wh_2", "wh_1"]);
  });

  test(`${engine.name}: entries of one action expire`, async (t) => {
    const { store } = await engine.open(t);
    const who = { kind: "api-key", id: "k", name: "k" } as const;
    for (const [at, action] of [
      [1, "key.proved"],
      [2, "key.created"],
      [3, "key.proved"],
      [9, "key.proved"],
    ] as const)
      await store.auditAppend({ at, actor: who, action, target: who, environment: null, details: "{}" });
    const expire = () => store.auditExpireMany({ action: "key.proved", until: 5, limit: 1 });
    assert.deepEqual([await expire(), await expire(), await expire()], [1, 1, 0]);
    const { entries } = await store.auditList({ limit: 10 });
    assert.deepEqual(
      entries.map(({ at }) => at),
      [9, 2],
    );
  });
}
