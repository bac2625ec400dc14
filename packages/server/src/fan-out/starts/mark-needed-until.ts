/** Until when the mark of a rate limit or throttle is needed, by the rule that its function has now. */

import type { ExpiredMark } from "../../store/contract/index.ts";
import type { FunctionConfig } from "../function-config.ts";
import { rateForgetAt, rateLimitRate, recallUse } from "../gcra.ts";

/** 0: no rule of the function needs it. */
export function markNeededUntil({ kind, value }: ExpiredMark, config: Pick<FunctionConfig, "rateLimit" | "throttle"> | undefined): number {
  const rateLimit = config?.rateLimit && rateLimitRate(config.rateLimit);
  const rate = kind === "rate" ? rateLimit : kind === "throttle" ? config?.throttle : null;
  const use = rate ? recallUse(value, rate) : null;
  return rate && use ? rateForgetAt(use, rate) : 0;
}
