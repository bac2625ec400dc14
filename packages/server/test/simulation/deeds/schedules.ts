/** An app whose function has a schedule. People remove it while runs of it go on. */

import type { Random } from "../random.ts";
import { APP_OF_SCHEDULE, fullId, type SimFunction } from "../scenario.ts";
import { now } from "../virtual-time.ts";
import type { SimSchedule } from "./deeds.ts";
import { type DeedParts, SPAN_MS, untilDone } from "./doing.ts";

export function generateSchedules(random: Random): SimSchedule[] {
  if (random.chance(0.6)) return [];
  return [{ atMs: random.int(SPAN_MS / 4, SPAN_MS * 8), everyMinutes: random.pick([1, 2]) }];
}

/** Of the app that is removed. */
export function scheduledFunctions(random: Random, schedules: readonly SimSchedule[]): SimFunction[] {
  return schedules.map(({ everyMinutes }) => {
    const run = (id: string) =>
      ({ kind: "run", id, fails: random.pick([0, 0, 1, 99]), error: "plain", tookMs: random.pick([0, 20, 3_000]) }) as const;
    const sleep = { kind: "sleep", id: "sleep1", ms: random.pick([1_000, 60_000]) } as const;
    const code = { kind: "sequence", parts: [run("run0"), sleep, run("run2")] } as const;
    const rules = { retries: 1, onFailure: false, cancelOn: null, flow: {} };
    return { id: "c0", sdk: APP_OF_SCHEDULE, trigger: null, everyMinutes, code, ...rules };
  });
}

export async function removeApp(parts: DeedParts): Promise<void> {
  const fn = parts.scenario.functions.find(({ sdk }) => sdk === APP_OF_SCHEDULE);
  if (!fn) return;
  const askedAt = now();
  await untilDone(parts, async ({ store, functions: { registry }, environment }) => {
    const app = registry.apps(environment).find(({ name }) => name === APP_OF_SCHEDULE);
    if (app) await store.appRemove({ environmentId: environment.id, id: app.id, removedAt: now() });
    await registry.refresh();
  });
  parts.journal.appRemovals.push({ functionId: fullId(fn), askedAt, removedAt: now() });
}
