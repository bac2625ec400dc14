/** Limits of functions that are set without a deploy, and taken back: on calls in progress, throttles and rate limits. */

import type { FunctionLimits } from "../../../src/store/contract/index.ts";
import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { LimitedRule, SimFunctionLimit } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

const NONE = { concurrency: null, throttle: null, rateLimit: null } as const;

const RULES: readonly LimitedRule[] = ["concurrency", "throttle", "rateLimit"];

export function generateFunctionLimits(random: Random, functions: readonly SimFunction[], rules = RULES): SimFunctionLimit[] {
  return functions.flatMap((fn) => {
    const possible = rules.filter((rule) => mayHave(fn, rule));
    return possible.length > 0 && random.chance(0.25) ? generateLimit(random, fn, possible) : [];
  });
}

function generateLimit(random: Random, fn: SimFunction, rules: readonly LimitedRule[]): SimFunctionLimit[] {
  const rule = random.pick(rules);
  const starts = { limit: random.pick([1, 3, 10]), period: random.pick(["1s", "5s"]) };
  return [
    {
      atMs: random.int(1, SPAN_MS),
      forMs: random.pick([2_000, 20_000]),
      fn: fn.id,
      rule,
      ...(rule === "concurrency" ? { limit: random.pick([1, 2, 5]) } : starts),
    },
  ];
}

/**
 * Calls: functions with one limit of their own, or none, since which of several is overridden is not what this is about. Rate limits: not
 * with an order, which excludes them; and without rules that gather events, whose starts are not those of events.
 */
function mayHave({ flow: { concurrency, ordering, debounce, batchEvents } }: SimFunction, rule: LimitedRule): boolean {
  if (rule === "throttle") return true;
  if (rule === "rateLimit") return !ordering && !debounce && !batchEvents;
  if (concurrency === undefined) return true;
  return !Array.isArray(concurrency) && !("fn" in concurrency) && (concurrency.scope ?? "fn") === "fn";
}

export async function limitFunction(
  parts: DeedParts,
  { fn, rule = "concurrency", limit, period = "1s", forMs }: SimFunctionLimit,
): Promise<void> {
  const limited = parts.scenario.functions.find(({ id }) => id === fn);
  if (!limited) return;
  const functionId = fullId(limited);
  const note = parts.journal.noteFunctionLimit({ functionId, rule, limit, period });
  const set = (limits: Pick<FunctionLimits, LimitedRule> | null) =>
    untilDone(parts, async ({ store, functions: { registry }, environment }) => {
      const known = registry.functions(environment).find(({ stored }) => stored.id === functionId);
      if (!known) throw new Error(`there is no function ${functionId}`);
      await store.functionLimit({
        environmentId: environment.id,
        functionNo: known.stored.no,
        limits: limits && { ...limits, changedAt: now(), changedBy: "somebody" },
      });
      await registry.refresh();
    });
  note.askedAt = now();
  await set({ ...NONE, [rule]: rule === "concurrency" ? limit : { limit, period } });
  note.setAt = now();
  await pass(forMs);
  note.endAskedAt = now();
  await set(null);
  note.endedAt = now();
}
