import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { StoreUnavailable } from "../../store/contract/index.ts";
import { QuotaLeases, type QuotaLeasesParts } from "./quota-leases.ts";

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
  assert.deepEqual(await leases.take(QUOTAS, NOON, { events: 4, bytes: 5 }), []);
  assert.equal(granted.get("eventsPerDay"), 5, "four of the five were left");
});
