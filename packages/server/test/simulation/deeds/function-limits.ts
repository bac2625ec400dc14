/** Limits of functions that are set without a deploy, and taken back. */

import type { Random } from "../random.ts";
import { fullId, type SimFunction } from "../scenario.ts";
import { now, pass } from "../virtual-time.ts";
import type { SimFunctionLimit } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

/** Of functions with one limit of their own, or none: which of several is overridden is not what this is about. */
export function generateFunctionLimits(random: Random, functions: readonly SimFunction[]): SimFunctionLimit[] {
  const limited = functions.filter((fn) => isSimple(fn) && random.chance(0.15));
  return limited.map(({ id }) => ({
    atMs: random.int(1, SPAN_MS),
    forMs: random.pick([2_000, 20_000]),
    fn: id,
    limit: random.pick([1, 2, 5]),
  }));
}

function isSimple({ flow: { concurrency } }: SimFunction): boolean {
  if (concurrency === undefined) return true;
  return !Array.isArray(concurrency) && !("fn" in concurrency) && (concurrency.scope ?? "fn") === "fn";
}

export async function limitFunction(parts: DeedParts, { fn, limit, forMs }: SimFunctionLimit): Promise<void> {
  const limited = parts.scenario.functions.find(({ id }) => id === fn);
  if (!limited) return;
  const functionId = fullId(limited);
  const note = parts.journal.noteFunctionLimit(functionId, limit);
  const set = (concurrency: number | null) =>
    untilDone(parts, async ({ store, functions: { registry }, environment }) => {
      const known = registry.functions(environment).find(({ stored }) => stored.id === functionId);
      if (!known) throw new Error(`there is no function ${functionId}`);
      const limits = { concurrency, throttle: null, rateLimit: null, changedAt: now(), changedBy: "somebody" };
      await store.functionLimit({
        environmentId: environment.id,
        functionNo: known.stored.no,
        limits: concurrency === null ? null : limits,
      });
      await registry.refresh();
    });
  note.askedAt = now();
  await set(limit);
  note.setAt = now();
  await pass(forMs);
  note.endAskedAt = now();
  await set(null);
  note.endedAt = now();
}
