import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { AlertRule } from "../contract/index.ts";

export function alertConformance(engine: Engine): void {
  test(`${engine.name}: alert rules are kept, changed and removed, and an alert changes once, with its event`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const { id: environmentId } = environment;
    const event = (name: string) => sampleBatch(environment, [sampleEvent({ name })]);
    const rule: AlertRule = {
      id: "alr_1",
      environmentId,
      name: "back\\slash",
      kind: "failure_rate",
      functionId: "shop-\\",
      webhookId: null,
      eventName: null,
      threshold: 12.5,
      windowMs: 60_000,
      quietHours: { from: "22:00", to: "06:00" },
      isEnabled: true,
      createdAt: 1,
      updatedAt: 1,
      raisedAt: null,
      lastRaisedAt: null,
      value: null,
      changes: 0,
    };
    await store.alertRuleInsert(rule);
    const again = await reopen();
    assert.deepEqual(await again.alertRuleList(), [rule]);
    const raised = { environmentId, id: rule.id, changes: 0, raisedAt: 5, value: 50 };
    for (const isDone of [true, false])
      assert.deepEqual(await again.alertChange({ ...raised, event: event("raised") }), { isDone, leased: [] });
    const silence = { kind: "silence", webhookId: "whk_1", eventName: "back\\slash\u0000*", threshold: null, windowMs: null } as const;
    const changed = { ...rule, ...silence, name: "other", functionId: null, quietHours: null, isEnabled: false, updatedAt: 9 };
    assert.equal(await again.alertRuleUpdate(changed), true);
    assert.deepEqual(await again.alertRuleList(), [{ ...changed, raisedAt: 5, lastRaisedAt: 5, value: 50, changes: 1 }]);
    const resolved = { ...raised, changes: 1, raisedAt: null, value: null, event: event("resolved") };
    assert.equal((await again.alertChange(resolved)).isDone, true);
    assert.deepEqual(await again.alertRuleList(), [{ ...changed, lastRaisedAt: 5, changes: 2 }]);
    assert.equal(await again.alertRuleUpdate({ ...changed, id: "alr_2" }), false);
    const remove = (version: AlertRule, name: string | null) =>
      again.alertRuleDelete({ ...version, event: name === null ? null : event(name) });
    assert.equal((await remove(rule, "deleted")).isDone, false, "its alert has changed since");
    assert.equal((await remove({ ...rule, changes: 2 }, "deleted")).isDone, true);
    assert.equal((await remove({ ...rule, changes: 2 }, "deleted")).isDone, false);
    assert.deepEqual(await again.alertRuleList(), []);
    await again.alertRuleInsert(rule);
    assert.deepEqual([(await remove(rule, null)).isDone, (await remove(rule, null)).isDone], [true, false]);
    const { events } = await again.eventList({ environmentId, limit: 10 });
    assert.deepEqual(events.map(({ name }) => name).sort(), ["deleted", "raised", "resolved"], "one of each change");
  });
}
