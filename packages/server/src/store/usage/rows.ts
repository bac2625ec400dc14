/** Converts rows of usage to records. */

import type { EnvironmentId } from "@inlet/protocol";
import type { UsageFigures, UsageHour, UsageKind } from "../contract/index.ts";
import { USAGE_FIGURES } from "./contract.ts";

/** One for each figure, in their order. */
export const USAGE_COLUMNS = ["accepted", "duplicates", "refused", "bytes", "runs", "calls", "transform_ms"] as const;

export type UsageRow = { environment_id: number; at: number; subject: string } & Record<(typeof USAGE_COLUMNS)[number], number>;

export function usageColumns(figures: UsageFigures): number[] {
  return USAGE_FIGURES.map((figure) => figures[figure]);
}

export function toUsageRow({ environmentId, kind, subject, at, figures: { transformMs, ...figures } }: UsageHour) {
  return { environment_id: environmentId, kind, subject, at, transform_ms: transformMs, ...figures };
}

export function toUsageHour(kind: UsageKind, { environment_id, at, subject, transform_ms: transformMs, ...figures }: UsageRow): UsageHour {
  return { environmentId: environment_id as EnvironmentId, kind, subject, at, figures: { ...figures, transformMs } };
}
