import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId, EventId, WebhookId } from "@inlet/protocol";
import { pino } from "pino";
import { until } from "../../test/support/runs.ts";
import { type PendingMirror, type StoredEvent, StoreUnavailable } from "../store/contract/index.ts";
import { EventMirror, type EventMirrorParts } from "./mirror-events.ts";

const [HOME, NEAR, FAR] = [1, 2, 3] as EnvironmentId[] as [EnvironmentId, EnvironmentId, EnvironmentId];
const EVENTS = 120;

/** Events that are to be copied to a branch on another database, then some for a branch of this one. */
function mirrorOf(far: { isReachable: boolean; isListed: boolean }) {
  const pending: PendingMirror[] = Array.from({ length: EVENTS }, (_, n) => ({
    environmentId: HOME,
    eventId: `01ARZ3NDEKTSV4RRFFQ69G5${String(n).padStart(3, "0")}` as EventId,
    webhookId: "wh" as WebhookId,
    targets: n < EVENTS - 2 ? [FAR] : [FAR, NEAR],
  }));
  const copied: EnvironmentId[] = [];
  const event = { id: "e", name: "a", data: "{}", receivedAt: 1, dedupId: null, extras: null, ts: 1 };
  const unreachable = () => new StoreUnavailable("the database far is away");
  const store = {
    storeNode: "node",
    storeDatabaseOf: (id: EnvironmentId) => (id === FAR ? 1 : 0),
    storeDatabases: () => [
      { no: 0, name: "directory", isReachable: true, store },
      { no: 1, name: "far", isReachable: far.isListed, store: { ...store, mirrorList: async () => Promise.reject(unreachable()) } },
    ],
    leadershipTake: async () => true,
    mirrorList: async ({ limit, after = "" }: { limit: number; after?: string }) =>
      pending.filter(({ eventId }) => eventId > after).slice(0, limit),
    mirrorRemove: async ({ eventId }: { eventId: EventId }) => {
      pending.splice(
        pending.findIndex((one) => one.eventId === eventId),
        1,
      );
    },
    async eventGet({ environmentId, id }: { environmentId: EnvironmentId; id: EventId }) {
      if (environmentId === HOME) return { ...event, id } as StoredEvent;
      if (environmentId === FAR && !far.isReachable) throw unreachable();
      return null;
    },
    async eventAppend({ environmentId }: { environmentId: EnvironmentId }) {
      copied.push(environmentId);
      return { ids: ["x"], duplicates: 0, leased: [] };
    },
    eventCountNew: async () => 1,
  };
  const parts = {
    store,
    functions: { plan: (_: EnvironmentId, copy: object) => copy, lease: () => null, take: () => undefined },
    catalogue: { checkAll: (_: EnvironmentId, events: readonly object[]) => events },
    dedupWindow: { duplicateSince: () => 0 },
    quotas: { take: async () => ({ settle: () => undefined }) },
    isMirroring: () => true,
    log: pino({ level: "silent" }),
    now: () => 1,
  } as unknown as EventMirrorParts;
  return { mirror: new EventMirror(parts), pending, copied };
}

for (const isListed of [true, false]) {
  test(`branches whose database is away hold up no others, ${isListed ? "before" : "once"} that is known`, async () => {
    const far = { isReachable: false, isListed };
    const { mirror, pending, copied } = mirrorOf(far);
    mirror.start();
    await until("the copies to the other branch", () => copied.length >= 2 || undefined);
    assert.deepEqual([copied, pending.length], [[NEAR, NEAR], EVENTS]);
    Object.assign(far, { isReachable: true, isListed: true });
    mirror.wake();
    await until("all copies", () => pending.length === 0 || undefined);
    await mirror.stop();
    assert.equal(copied.filter((id) => id === FAR).length, EVENTS);
  });
}
