/** Which figures a change of a run adds to. Counted in the transaction that changes the run, so they are exact after a crash too. */

import type { EnvironmentId } from "@inlet/protocol";
import { TRAFFIC_FIGURES, type TrafficFigures, type TrafficMinute } from "./contract.ts";

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** A run before or after the change. */
interface RunTimes {
  startedAt: number | null;
}

interface ChangedRun extends RunTimes {
  status: string;
  endedAt: number | null;
}

/** A run that was cancelled is neither completed nor failed. */
export function figuresOfRun(environmentId: EnvironmentId, before: RunTimes, after: ChangedRun): TrafficMinute[] {
  const minutes: TrafficMinute[] = [];
  if (before.startedAt === null && after.startedAt !== null)
    minutes.push({ environmentId, at: after.startedAt, figures: { ...noFigures(), runsStarted: 1 } });
  if (after.endedAt === null) return minutes;
  if (after.status === "completed") minutes.push({ environmentId, at: after.endedAt, figures: { ...noFigures(), runsCompleted: 1 } });
  if (after.status === "failed") minutes.push({ environmentId, at: after.endedAt, figures: { ...noFigures(), runsFailed: 1 } });
  return minutes;
}

export function noFigures(): TrafficFigures {
  return { accepted: 0, duplicates: 0, refused: 0, runsStarted: 0, runsCompleted: 0, runsFailed: 0 };
}

/** The same counts with one entry per environment and minute, in a fixed order. */
export function sumOfMinutes(minutes: readonly TrafficMinute[]): TrafficMinute[] {
  const sums = new Map<string, TrafficMinute>();
  for (const { environmentId, at, figures } of minutes) {
    const begin = at - (at % MINUTE_MS);
    const key = `${environmentId} ${begin}`;
    const sum = sums.get(key) ?? { environmentId, at: begin, figures: noFigures() };
    for (const figure of TRAFFIC_FIGURES) sum.figures[figure] += figures[figure];
    sums.set(key, sum);
  }
  return [...sums.values()].sort((one, other) => one.environmentId - other.environmentId || one.at - other.at);
}
