/** Random flow control: one or two kinds at a time, with limits that are reached. */

import type { Random } from "./random.ts";
import type { Flow, SimLimit } from "./scenario.ts";

const KEY = "event.data.k";

export function generateFlow(random: Random): Flow {
  const kind = random.weighted({
    concurrency: 5,
    throttle: 3,
    rateLimit: 1.5,
    debounce: 1.5,
    batchEvents: 1.5,
    singleton: 2,
    priority: 1,
    timeouts: 1,
    ordering: 2.5,
  });
  const flow = generateOne(random, kind);
  // A limit of runs cannot stand beside an order.
  if (kind === "ordering") return random.chance(0.25) ? { ...flow, ...generateOne(random, "throttle") } : flow;
  const isGathering = kind === "batchEvents" || kind === "debounce";
  if (random.chance(0.25))
    return { ...flow, ...generateOne(random, isGathering ? "concurrency" : random.pick(["concurrency", "throttle"])) };
  return flow;
}

function generateOne(random: Random, kind: keyof Flow): Flow {
  const keyed = () => (random.chance(0.5) ? { key: KEY } : {});
  switch (kind) {
    case "concurrency":
      return { concurrency: generateConcurrency(random) };
    case "throttle":
      return { throttle: { limit: random.pick([1, 3, 10]), period: random.pick(["1s", "5s"]), burst: random.pick([0, 0, 2]), ...keyed() } };
    case "rateLimit":
      return { rateLimit: { limit: random.pick([1, 5, 20]), period: random.pick(["1s", "10s"]), ...keyed() } };
    case "debounce":
      return {
        debounce: { period: random.pick(["1s", "3s"]), ...(random.chance(0.4) && { timeout: random.pick(["2s", "10s"]) }), ...keyed() },
      };
    case "batchEvents":
      return { batchEvents: { maxSize: random.pick([2, 5]), timeout: random.pick(["1s", "5s"]), ...keyed() } };
    case "singleton":
      return { singleton: { mode: random.pick(["skip", "cancel"] as const), ...keyed() } };
    case "priority":
      return { priority: { run: `${KEY} * 10` }, concurrency: { limit: 1 } };
    case "ordering":
      return { ordering: { key: KEY, onFailure: random.pick(["continue", "hold"] as const) } };
    case "timeouts":
      return { timeouts: random.chance(0.5) ? { start: "3s" } : { finish: random.pick(["2s", "30s"]) }, concurrency: { limit: 2 } };
  }
}

function generateConcurrency(random: Random): NonNullable<Flow["concurrency"]> {
  const one = (): SimLimit => {
    const scope = random.pick(["fn", "fn", "env", "account"] as const);
    // Functions that share a limit agree on it.
    if (scope !== "fn") return scope === "env" ? { limit: 3, scope, key: `"shared"` } : { limit: 2, scope, key: KEY };
    return { limit: random.int(1, 4), ...(random.chance(0.5) && { key: KEY }) };
  };
  const form = random.pick(["one", "one", "two", "runs"] as const);
  if (form === "one") return one();
  if (form === "two") return [one(), one()];
  const runs = { limit: random.int(1, 4), ...(random.chance(0.5) && { key: KEY }) };
  return { fn: [runs], ...(random.chance(0.5) && { step: [one()] }) };
}
