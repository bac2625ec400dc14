/**
 * Whether figures grew: compares the median of the last quarter of the samples with that of the first. The first third is left out: a
 * process that has just started fills its caches and its heap.
 */

import type { Sample } from "./measure.ts";

type Figure = Exclude<keyof Sample, "at">;

interface Limit {
  figure: Figure;
  name: string;
  /** Tolerated growth: a fraction of the initial value, and a number of units. */
  share: number;
  units: number;
}

const LIMITS: readonly Limit[] = [
  { figure: "memoryMib", name: "memory (MiB)", share: 0.25, units: 32 },
  { figure: "handles", name: "file handles", share: 0.1, units: 20 },
  { figure: "diskMib", name: "disk (MiB)", share: 0.2, units: 32 },
  { figure: "lagSeconds", name: "lag (s)", share: 0, units: 5 },
];
const SAMPLES_MIN = 8;

/** A sentence for each figure that grew. Disk usage is checked only if old data has had time to expire. */
export function checkGrowth(all: readonly Sample[], { checkDisk }: { checkDisk: boolean }): string[] {
  const samples = all.slice(Math.floor(all.length / 3));
  if (samples.length < SAMPLES_MIN) return [`only ${samples.length} samples were taken after the warm-up: growth cannot be measured`];
  const quarter = Math.floor(samples.length / 4);
  return LIMITS.filter(({ figure }) => checkDisk || figure !== "diskMib").flatMap(({ figure, name, share, units }) => {
    const [first, last] = [samples.slice(0, quarter), samples.slice(-quarter)].map((part) => median(part.map((sample) => sample[figure])));
    const limit = (first ?? 0) * (1 + share) + units;
    return (last ?? 0) > limit ? [`${name} grew from ${first?.toFixed(1)} to ${last?.toFixed(1)}, above ${limit.toFixed(1)}`] : [];
  });
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
