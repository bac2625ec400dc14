/** What is used of an environment's quotas in the running period, by all nodes. */

import { DAY_MS, type EnvironmentId } from "@inlet/protocol";
import type { QuotaUsage } from "../api/access/quota-fields.ts";
import type { StoredBytesMeter } from "../maintenance/stored-bytes.ts";
import type { QuotaLedger } from "../receive/quotas/quota-ledger.ts";
import { type Environment, QUOTAS, type UsageStore } from "../store/contract/index.ts";

export interface QuotaUsageParts {
  store: Pick<UsageStore, "usageList">;
  quotas: Pick<QuotaLedger, "usedInSecond">;
  calls: { callsOf(environmentId: EnvironmentId): number };
  meter: Pick<StoredBytesMeter, "shown">;
  now(): number;
}

export function createQuotaUsage({ store, quotas, calls, meter, now }: QuotaUsageParts): (environment: Environment) => Promise<QuotaUsage> {
  return async ({ id }) => {
    const from = now() - (now() % DAY_MS);
    const [today] = await store.usageList({ environmentIds: [id], kind: "environment", from, to: from + DAY_MS, intervalMs: DAY_MS });
    return {
      eventsPerSecond: quotas.usedInSecond(id),
      eventsPerDay: today?.figures.accepted ?? 0,
      bytesPerDay: today?.figures.bytes ?? 0,
      callsAtOnce: calls.callsOf(id),
      storedBytes: await meter.shown(id),
    };
  };
}

/** The part of the quota that is used most, in percent; 0 if no quota is set. */
export function createQuotaUsed(
  environmentWith: (id: EnvironmentId) => Environment | undefined,
  usageOf: (environment: Environment) => Promise<QuotaUsage>,
): (id: EnvironmentId) => Promise<number> {
  return async (id) => {
    const environment = environmentWith(id);
    if (!environment || QUOTAS.every((quota) => environment.quotas[quota] === null)) return 0;
    const usage = await usageOf(environment);
    return Math.max(...QUOTAS.map((quota) => (usage[quota] / (environment.quotas[quota] ?? Number.POSITIVE_INFINITY)) * 100));
  };
}
