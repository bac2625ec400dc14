/** The refusal of a request for which a quota has no room. */

import { Refusal, SECOND_MS } from "@inlet/protocol";
import type { Exceeded } from "./quota-use.ts";

const SOON_S = 1;

export function quotaExceeded(environment: string, exceeded: readonly Exceeded[], now: number): Refusal {
  const details = exceeded.map(({ quota, limit, used, resetsAt }) => ({ quota, limit, used, resetsAt: new Date(resetsAt).toISOString() }));
  const retryAfterS = Math.max(1, ...exceeded.map(({ resetsAt }) => Math.ceil((resetsAt - now) / SECOND_MS)));
  return new Refusal("quota_exceeded", sentenceOf(environment, exceeded), details, retryAfterS);
}

/** The quota is one of a second: it has room again soon. */
export function isOverSoon({ code, retryAfterS }: Refusal): boolean {
  return code === "quota_exceeded" && retryAfterS !== undefined && retryAfterS <= SOON_S;
}

function sentenceOf(environment: string, exceeded: readonly Exceeded[]): string {
  const never = exceeded.find(({ limit, wanted }) => wanted > limit);
  if (never) {
    const needed = `${never.wanted} ${never.quota === "bytesPerDay" ? "bytes" : "new events"}`;
    const quota = `the quota ${never.quota} of the environment "${environment}", which is ${never.limit}`;
    return `The request can never be accepted as it is: its ${needed} alone exceed ${quota}. Send less at once. Nothing was stored.`;
  }
  const reached = exceeded.map(({ quota, limit, used }) => `${quota} (${used} of ${limit} used)`).join(" and ");
  return `The request exceeds a quota of the environment "${environment}": ${reached}. Nothing was stored.`;
}
