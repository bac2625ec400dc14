/**
 * What must be true at the end of a soak: every acknowledged event was seen by the tail, every run has done its last step, duplicates got
 * the first event's id, and no step ran again once a later one had begun. A step may run twice only where a kill met it.
 */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Tail } from "./tail.ts";

export interface SoakRecord {
  acknowledged: ReadonlySet<string>;
  keys: ReadonlySet<string>;
  wrongDuplicates: readonly string[];
  tail: Tail;
  stepsFile: string;
  killedAt: readonly number[];
}

export interface StepLine {
  key: string;
  step: number;
  at: number;
}

const LAST_STEP = 3;
const DRAIN_MS = 120_000;
/** A call that was cut off is repeated when its lease has ended. */
const REPEAT_WITHIN_MS = 90_000;

export async function findFaults({
  acknowledged,
  keys,
  wrongDuplicates,
  tail,
  stepsFile,
  killedAt,
}: SoakRecord & { url: string }): Promise<string[]> {
  const missing = () => [...acknowledged].filter((id) => !tail.seen.has(id));
  const unfinished = () => {
    const ended = new Set(
      readSteps(stepsFile)
        .filter(({ step }) => step === LAST_STEP)
        .map(({ key }) => key),
    );
    return [...keys].filter((key) => !ended.has(key));
  };
  const deadline = Date.now() + DRAIN_MS;
  while ((missing().length > 0 || unfinished().length > 0) && Date.now() < deadline) await sleep(500);
  return [
    ...missing().map((id) => `event ${id} was acknowledged and is not in the tail`),
    ...unfinished().map((key) => `the run of ${key} did not end`),
    ...wrongDuplicates.map((text) => `a duplicate got another id: ${text}`),
    ...stepFaults(readSteps(stepsFile), killedAt),
  ];
}

/** The file is appended to by another process; its last line may not be whole. */
function readSteps(file: string): StepLine[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line) as StepLine);
}

export function stepFaults(lines: readonly StepLine[], killedAt: readonly number[]): string[] {
  const faults: string[] = [];
  for (const [key, steps] of Map.groupBy(lines, (line) => line.key)) {
    for (const [i, line] of steps.entries()) {
      const before = steps[i - 1];
      if (!before) continue;
      if (line.step < before.step) faults.push(`step ${line.step} of ${key} ran again after step ${before.step}`);
      else if (
        line.step === before.step &&
        !killedAt.some((at) => at <= line.at && at >= before.at - 1_000 && line.at - at < REPEAT_WITHIN_MS)
      )
        faults.push(`step ${line.step} of ${key} ran twice, and no kill met it`);
    }
  }
  return faults;
}
