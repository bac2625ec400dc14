/**
 * Usage: what environments and their keys, webhooks and functions used, by hour. Accepted events, duplicates, bytes and runs are counted in the
 * transaction that stores them, so they are exact at once and after a crash. The other figures are added every few seconds.
 */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { Quota } from "../environments/contract.ts";

export const USAGE_KINDS = ["environment", "key", "webhook", "function"] as const;
export type UsageKind = (typeof USAGE_KINDS)[number];

export const USAGE_FIGURES = ["accepted", "duplicates", "refused", "bytes", "runs", "calls", "transformMs"] as const;
export type UsageFigure = (typeof USAGE_FIGURES)[number];
export type UsageFigures = Record<UsageFigure, number>;

export function noUsage(): UsageFigures {
  return { accepted: 0, duplicates: 0, refused: 0, bytes: 0, runs: 0, calls: 0, transformMs: 0 };
}

/** The function of a run is known by its number. No id of a function begins like this. */
export function functionSubject(no: FunctionNo): string {
  return `#${no}`;
}

export interface UsageSubject {
  environmentId: EnvironmentId;
  kind: UsageKind;
  /** The id of the key, webhook or function; for runs and calls of a function the result of `functionSubject`; `""` for an environment. */
  subject: string;
}

export interface UsageHour extends UsageSubject {
  /** When the hour began. */
  at: number;
  figures: UsageFigures;
}

export interface UsageListParams {
  environmentIds: readonly EnvironmentId[];
  kind: UsageKind;
  from: number;
  to: number;
  /** A whole number of hours. */
  intervalMs: number;
}

export interface QuotaLeaseParams {
  environmentId: EnvironmentId;
  quota: Quota;
  /** When the period began. */
  period: number;
  limit: number;
  /** Nothing is leased if there is less than this left. */
  needed: number;
  wanted: number;
  /** The usage of the period that counts even if no node leased it; null: none. */
  figure: "accepted" | "bytes" | null;
}

export interface UsageStore {
  /** Adds to the existing figures. */
  usageAdd(params: { hours: readonly UsageHour[] }): Promise<void>;
  /** Intervals with usage, oldest first; `at` is when each began. */
  usageList(params: UsageListParams): Promise<UsageHour[]>;
  /** Removes at most `limit` hours that began at or before `until`. Returns how many. */
  usageExpireMany(params: { until: number; limit: number }): Promise<number>;
  /**
   * Takes a part of a quota for this node, for the rest of the period. All nodes together never lease more than the limit. `leased` is what they
   * have leased then.
   */
  quotaLease(params: QuotaLeaseParams): Promise<{ granted: number; leased: number }>;
  /** Gives back what this node leased and did not use. */
  quotaRelease(params: Pick<QuotaLeaseParams, "environmentId" | "quota" | "period"> & { unused: number }): Promise<void>;
}
