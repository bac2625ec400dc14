/** Limits of a function that people set without a deploy. They take precedence over those that its app registered with the same keys. */

import { parseDuration } from "@inlet/protocol";
import type { FunctionLimits, LimitedRate } from "../store/contract/index.ts";
import type { ConcurrencyLimit, RateLimitConfig, ThrottleConfig } from "./flow-control.ts";
import type { FunctionConfig } from "./function-config.ts";

/** The configuration in force. A limit that does not fit what the app has registered since has no effect. */
export function limitedConfig(config: FunctionConfig, limits: FunctionLimits | null): FunctionConfig {
  if (limits === null) return config;
  const { concurrency, throttle, rateLimit } = limits;
  return {
    ...config,
    concurrency: concurrency === null ? config.concurrency : limitedConcurrency(config.concurrency, concurrency),
    throttle: throttle === null ? config.throttle : limitedThrottle(config.throttle, throttle),
    rateLimit: rateLimit === null || rateLimitFault(config) ? config.rateLimit : limitedRate(config.rateLimit, rateLimit),
  };
}

/** Why a rate limit cannot be set; null if it can. */
export function rateLimitFault({ ordering, raw }: FunctionConfig): string | null {
  if (ordering) return "cannot be combined with ordering, because it drops runs";
  return raw.idempotency == null ? null : "cannot be combined with idempotency, which is a rate limit of its own";
}

/** Every limit of the function itself; if it has none, one on its steps. */
function limitedConcurrency(registered: readonly ConcurrencyLimit[], limit: number): ConcurrencyLimit[] {
  const isOwn = ({ scope }: ConcurrencyLimit) => scope === "fn";
  if (registered.some(isOwn)) return registered.map((one) => (isOwn(one) ? { ...one, limit } : one));
  // At the end: the values of keys in the lanes of earlier runs are found by their position.
  return [...registered, { limit, key: null, scope: "fn", counts: "steps" }];
}

function limitedThrottle(registered: ThrottleConfig | null, { limit, period }: LimitedRate): ThrottleConfig {
  return { burst: 0, key: null, ...registered, limit, periodMs: parseDuration(period) ?? 0 };
}

function limitedRate(registered: RateLimitConfig | null, { limit, period }: LimitedRate): RateLimitConfig {
  return { burst: null, key: null, ...registered, limit, periodMs: parseDuration(period) ?? 0 };
}
