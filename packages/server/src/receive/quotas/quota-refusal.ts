/** The refusal of a request for which a quota has no room. */

import { Refusal, SECOND_MS } from "@inlet/protocol";
import type { Exceeded } from "./quota-use.ts";

export function quotaExceeded(environment: string, exceeded: readonly Exceeded[], now: number): Refusal {
  const details = exceeded.map(({ resetsAt, ...one }) => ({ ...one, resetsAt: new Date(resetsAt).toISOString() }));
  const reached = exceeded.map(({ quota, limit, used }) => `${quota} (${used} of ${limit} used)`).join(" and ");
  const retryAfterS = Math.max(1, ...exceeded.map(({ resetsAt }) => Math.ceil((resetsAt - now) / SECOND_MS)));
  const message = `The request exceeds a quota of the environment "${environment}": ${reached}. Nothing was stored.`;
  return new Refusal("quota_exceeded", message, details, retryAfterS);
}
