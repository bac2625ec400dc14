/** The quotas of an environment as fields of the REST API. */

import { type EnvironmentQuotas, QUOTAS, type Quota } from "../../store/contract/index.ts";
import { closed } from "../rest-schemas.ts";
import { shape } from "../route-facts.ts";

const MEANINGS: Readonly<Record<Quota, string>> = {
  eventsPerSecond: "Events accepted in any second.",
  eventsPerDay: "Events accepted in a day (UTC).",
  bytesPerDay: "Bytes of the bodies accepted in a day (UTC).",
  callsAtOnce: "Calls to apps at the same time; further calls wait.",
  storedBytes: "Bytes of stored events, runs and webhook requests; the oldest are removed beyond it.",
};

const QUOTA = { type: ["integer", "null"], minimum: 1, maximum: Number.MAX_SAFE_INTEGER };
const fields = (of: (quota: Quota) => Record<string, unknown>) => Object.fromEntries(QUOTAS.map((quota) => [quota, of(quota)]));

/** Of a request: those that are absent stay as they are, null removes one. */
export const QUOTA_CHANGES = closed(fields((quota) => ({ ...QUOTA, description: `${MEANINGS[quota]} Null: no limit.` })));
export const QUOTAS_SHOWN = shape(fields((quota) => ({ type: ["integer", "null"], description: MEANINGS[quota] })));
export const USAGE_SHOWN = {
  ...shape(fields(() => ({ type: "integer" }))),
  description: "What is used of each quota in the running second or day, or now.",
};

export type QuotaUsage = Record<Quota, number>;
export type QuotaChanges = Partial<EnvironmentQuotas>;
