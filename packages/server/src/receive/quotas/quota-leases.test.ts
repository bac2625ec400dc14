import assert from "node:assert/strict";
import { test } from "node:test";
import { DAY_MS, type EnvironmentId } from "@inlet/protocol";
import { StoreUnavailable } from "../../store/contract/index.ts";
import { grantLease, type LeasedOfQuota } from "../../store/usage/policy.ts";
import { type Held, QuotaLeases, type QuotaLeasesParts } from "./quota-leases.ts";

const NOON = Date.UTC(2030, 5, 15, 12);
const QUOTAS = { eventsPerSecond: null, eventsPerDay: 100, bytesPerDay: 100, callsAtOnce: null, storedBytes: null };

test("a request that cannot get all of its leases uses none: what it had of the others is there for the next", async () => {
  let isAway = false;
  const granted = new Map<string, number>();
  const store: QuotaLeasesParts["store"] = {
    async quotaLease({ quota, needed, wanted }) {
      if (isAway) throw new StoreUnavailable("the database cannot be reached");
      granted.set(quota, (granted.get(quota) ?? 0) + Math.max(needed, wanted));
      return { granted: Math.max(needed, wanted), leased: granted.get(quota) ?? 0 };
    },
    quotaRelease: async () => undefined,
  };
  const leases = new QuotaLeases({ store, environmentId: 1 as EnvironmentId, nodes: () => 1 });
  await leases.take(QUOTAS, NOON, { events: 1, bytes: 5 });
  assert.deepEqual([...granted.values()], [5, 5]);
  isAway = true;
  for (let n = 0; n < 4; n++) await assert.rejects(leases.take(QUOTAS, NOON, { events: 1, bytes: 5 }), StoreUnavailable);
  isAway = false;
  assert.ok(Array.isArray(await leases.take(QUOTAS, NOON, { events: 4, bytes: 5 })));
  assert.equal(granted.get("eventsPerDay"), 5, "four of the five were left");
});

const daily = (eventsPerDay: number | null) => ({ ...QUOTAS, eventsPerDay, bytesPerDay: null });
const eventsOf = (events: number) => ({ events, bytes: 0 });

/** Two nodes, with a store that leases as the shared one does. */
function twoNodes() {
  let known: LeasedOfQuota | null = null;
  const store: QuotaLeasesParts["store"] = {
    async quotaLease(asked) {
      const { granted, ...leased } = grantLease(known, 0, asked);
      known = leased;
      return { granted, leased: leased.leased };
    },
    async quotaRelease({ period, unused }) {
      if (known?.period === period) known.leased -= unused;
    },
  };
  const node = () => {
    const leases = new QuotaLeases({ store, environmentId: 1 as EnvironmentId, nodes: () => 2 });
    const take = (limit: number | null, events: number) => leases.take(daily(limit), NOON, eventsOf(events));
    return { leases, take };
  };
  return { one: node(), other: node() };
}

async function taken(take: Promise<unknown>): Promise<Held[]> {
  const held = await take;
  assert.ok(Array.isArray(held), JSON.stringify(held));
  return held;
}

async function denied(take: Promise<unknown>): Promise<void> {
  assert.ok(!Array.isArray(await take), "there is no room");
}

test("what was leased under a limit that was lowered is not used under the lower one", async () => {
  const { one } = twoNodes();
  await taken(one.take(1_000, 10));
  await denied(one.take(10, 1));
  await taken(one.take(11, 1));
});

test("a limit that was raised holds at once, also for what was denied just before", async () => {
  const { one } = twoNodes();
  await taken(one.take(10, 10));
  await denied(one.take(10, 1));
  await taken(one.take(20, 10));
  await denied(one.take(20, 1));
});

test("what a request took under another limit goes back to the store, and counts under the limit in force", async () => {
  const { one, other } = twoNodes();
  const before = await taken(one.take(1_000, 500));
  await denied(one.take(10, 1));
  one.leases.give(before, eventsOf(498));
  await denied(one.take(10, 9));
  await taken(one.take(10, 5));
  await taken(other.take(10, 3));
  await denied(other.take(10, 1));
});

test("what a node holds under a limit that is not in force any more is free for others, even if it accepts nothing", async () => {
  for (const limit of [10, null]) {
    const { one, other } = twoNodes();
    await taken(one.take(1_000, 1));
    one.leases.follow(daily(limit));
    await one.leases.idle();
    await taken(other.take(10, 9));
    await denied(other.take(10, 1));
  }
});

test("a request that used no lease gives none back", async () => {
  const { one } = twoNodes();
  const before = await taken(one.take(null, 5));
  await taken(one.take(10, 10));
  one.leases.give(before, eventsOf(5));
  await denied(one.take(10, 1));
});

test("what is given back after the period has ended is nothing in the next one", async () => {
  const { one } = twoNodes();
  const before = await taken(one.take(10, 10));
  const tomorrow = NOON + DAY_MS;
  await taken(one.leases.take(daily(10), tomorrow, eventsOf(10)));
  one.leases.give(before, eventsOf(10));
  await denied(one.leases.take(daily(10), tomorrow, eventsOf(1)));
});
