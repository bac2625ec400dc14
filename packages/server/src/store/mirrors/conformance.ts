import assert from "node:assert/strict";
import { test } from "node:test";
import type { WebhookId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment, sampleBatch, sampleEvent } from "../conformance/samples.ts";

export function mirrorConformance(engine: Engine): void {
  test(`${engine.name}: what is to be mirrored is noted with the event, not with a duplicate, and stays until it is removed`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const branch = await makeEnvironment(store, "feature");
    const webhookId = "whk_1" as WebhookId;
    const mirror = { webhookId, targets: [branch.id] };
    const [first, again, alone] = [sampleEvent({ dedupId: "d" }), sampleEvent({ dedupId: "d" }), sampleEvent()];
    await Promise.all([
      store.eventAppend(sampleBatch(environment, [first], { mirror })),
      store.eventAppend(sampleBatch(environment, [sampleEvent()])),
    ]);
    assert.equal((await store.eventAppend(sampleBatch(environment, [again], { mirror }))).duplicates, 1);
    await store.eventAppend(sampleBatch(environment, [alone], { mirror: { webhookId, targets: [] } }));
    const reopened = await reopen();
    const noted = { environmentId: environment.id, webhookId };
    assert.deepEqual(await reopened.mirrorList({ limit: 10 }), [
      { ...noted, eventId: first.id, targets: [branch.id] },
      { ...noted, eventId: alone.id, targets: [] },
    ]);
    const [oldest] = await reopened.mirrorList({ limit: 1 });
    assert.equal(oldest?.eventId, first.id);
    const rest = await reopened.mirrorList({ limit: 10, after: oldest ?? null });
    assert.deepEqual(
      rest.map(({ eventId }) => eventId),
      [alone.id],
    );
    assert.deepEqual(await reopened.mirrorList({ limit: 10, after: rest[0] ?? null }), []);
    await reopened.mirrorRemove({ environmentId: environment.id, eventId: first.id });
    await reopened.mirrorRemove({ environmentId: environment.id, eventId: first.id });
    assert.deepEqual(
      (await reopened.mirrorList({ limit: 10 })).map(({ eventId }) => eventId),
      [alone.id],
    );
  });

  test(`${engine.name}: of what is to be mirrored, the targets that are left are kept; what was removed does not come back`, async (t) => {
    const { store } = await engine.open(t);
    const environment = await makeEnvironment(store);
    const branches = [await makeEnvironment(store, "a"), await makeEnvironment(store, "b")].map(({ id }) => id);
    const mirror = { webhookId: "whk_1" as WebhookId, targets: branches };
    const [first, second] = [sampleEvent(), sampleEvent()];
    for (const event of [first, second]) await store.eventAppend(sampleBatch(environment, [event], { mirror }));
    const targets = branches.slice(1);
    await store.mirrorKeep({ environmentId: environment.id, eventId: first.id, targets });
    const listed = await store.mirrorList({ limit: 10 });
    assert.deepEqual(
      listed.map((row) => [row.eventId, row.targets]),
      [
        [first.id, targets],
        [second.id, branches],
      ],
    );
    await store.mirrorRemove({ environmentId: environment.id, eventId: first.id });
    await store.mirrorKeep({ environmentId: environment.id, eventId: first.id, targets });
    assert.deepEqual(
      (await store.mirrorList({ limit: 10 })).map(({ eventId }) => eventId),
      [second.id],
    );
  });
}
