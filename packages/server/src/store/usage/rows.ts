/** Converts rows of usage to the contract's figures. */

import { USAGE_FIGURES, type UsageFigures } from "../contract/index.ts";

/** One for each figure, in their order. */
export const USAGE_COLUMNS = ["accepted", "duplicates", "refused", "bytes", "runs", "calls", "transform_ms"] as const;

export type UsageRow = { environment_id: number; at: number; subject: string } & Record<(typeof USAGE_COLUMNS)[number], number>;

export function usageColumns(figures: UsageFigures): number[] {
  return USAGE_FIGURES.map((figure) => figures[figure]);
}

export function toUsageFigures({ accepted, duplicates, refused, bytes, runs, calls, transform_ms }: UsageRow): UsageFigures {
  return { accepted, duplicates, refused, bytes, runs, calls, transformMs: transform_ms };
}
