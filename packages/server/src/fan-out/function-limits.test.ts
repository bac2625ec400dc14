import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionLimits } from "../store/contract/index.ts";
import { type FunctionConfig, readFunctionConfig } from "./function-config.ts";
import { limitedConfig } from "./function-limits.ts";

const NONE: FunctionLimits = { concurrency: null, throttle: null, rateLimit: null, changedAt: 1, changedBy: "Ada" };

function registered(fields: object): FunctionConfig {
  const steps = { step: { id: "step", runtime: { url: "http://localhost/api" } } };
  const read = readFunctionConfig({ id: "app-f", triggers: [{ event: "a/b" }], steps, ...fields });
  assert.ok("config" in read, JSON.stringify(read));
  return read.config;
}

test("limits go before those of the app, and keep its keys", () => {
  const concurrency = [
    { limit: 5, key: "event.data.id" },
    { limit: 9, scope: "env", key: '"all"' },
  ];
  const config = registered({
    concurrency,
    throttle: { limit: 1, period: "1h", key: "event.data.id", burst: 3 },
    rateLimit: { limit: 1, period: "1h" },
  });
  const limited = limitedConfig(config, {
    ...NONE,
    concurrency: 2,
    throttle: { limit: 10, period: "1m" },
    rateLimit: { limit: 7, period: "2s" },
  });
  assert.deepEqual(
    limited.concurrency.map(({ limit, key }) => [limit, key]),
    [
      [2, "event.data.id"],
      [9, '"all"'],
    ],
  );
  assert.deepEqual(limited.throttle, { limit: 10, periodMs: 60_000, key: "event.data.id", burst: 3 });
  assert.deepEqual([limited.rateLimit?.limit, limited.rateLimit?.periodMs], [7, 2_000]);
  assert.equal(limited.raw, config.raw);
  assert.equal(limitedConfig(config, null), config);
  assert.deepEqual(limitedConfig(config, NONE), config);
});

test("a function without a limit gets one; a rate limit that does not fit has no effect", () => {
  const { concurrency, throttle } = limitedConfig(registered({}), { ...NONE, concurrency: 1, throttle: { limit: 2, period: "1s" } });
  assert.deepEqual(concurrency, [{ limit: 1, key: null, scope: "fn", counts: "steps" }]);
  assert.deepEqual(throttle, { limit: 2, periodMs: 1_000, key: null, burst: 0 });
  const rateLimit = { limit: 2, period: "1s" };
  const ordered = registered({ ordering: { key: "event.data.id", onFailure: "continue" } });
  assert.equal(limitedConfig(ordered, { ...NONE, rateLimit }).rateLimit, null);
  const once = registered({ idempotency: "event.data.id" });
  assert.equal(limitedConfig(once, { ...NONE, rateLimit }).rateLimit?.limit, 1);
});
