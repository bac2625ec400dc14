/** Which figures a batch of events and a new run add to, and how much of a quota a node may lease. */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { EventBatch } from "../events/contract.ts";
import { readMirrored } from "../mirrors/contract/mirrored-source.ts";
import { readReconciled } from "../reconciliations/contract/reconciled-source.ts";
import {
  functionSubject,
  noUsage,
  type QuotaLeaseParams,
  USAGE_FIGURES,
  type UsageFigures,
  type UsageHour,
  type UsageSubject,
} from "./contract.ts";

export const HOUR_MS = 3_600_000;

/** Figures with one entry per subject and hour. */
export class UsageSums {
  readonly #hours = new Map<string, UsageHour>();

  get size(): number {
    return this.#hours.size;
  }

  add({ environmentId, kind, subject }: UsageSubject, time: number, figures: Partial<UsageFigures>): void {
    const at = time - (time % HOUR_MS);
    const key = `${environmentId} ${kind} ${at} ${subject}`;
    let hour = this.#hours.get(key);
    if (!hour) {
      hour = { environmentId, kind, subject, at, figures: noUsage() };
      this.#hours.set(key, hour);
    }
    for (const figure of USAGE_FIGURES) hour.figures[figure] += figures[figure] ?? 0;
  }

  /** In the order of their keys. */
  hours(): UsageHour[] {
    return [...this.#hours].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, hour]) => hour);
  }

  clear(): void {
    this.#hours.clear();
  }
}

/** What a batch adds to its environment and its source. Internal events use nothing; a body counts if at least one of its events is new. */
export function addBatch(
  sums: UsageSums,
  batch: Omit<EventBatch, "events">,
  stored: { events: number; duplicates: number; runs: number },
): void {
  const { environmentId, receivedAt, source, bodyBytes = 0 } = batch;
  if (source.kind === "internal") return;
  const figures = { accepted: stored.events, duplicates: stored.duplicates, bytes: stored.events > 0 ? bodyBytes : 0 };
  sums.add({ environmentId, kind: "environment", subject: "" }, receivedAt, figures);
  sums.add({ environmentId, kind: source.kind, subject: readReconciled(readMirrored(source).source).source.id }, receivedAt, {
    ...figures,
    runs: stored.runs,
  });
}

export function addRun(sums: UsageSums, environmentId: EnvironmentId, functionNo: FunctionNo, at: number): void {
  sums.add({ environmentId, kind: "environment", subject: "" }, at, { runs: 1 });
  sums.add({ environmentId, kind: "function", subject: functionSubject(functionNo) }, at, { runs: 1 });
}

/** What all nodes have leased in a period. */
export interface LeasedOfQuota {
  period: number;
  leased: number;
}

/** `used` counts as leased: a node that was alone used the quota without leases. A lease of an earlier period is one of the period in force. */
export function grantLease(
  known: LeasedOfQuota | null,
  used: number,
  { period, limit, needed, wanted }: Pick<QuotaLeaseParams, "period" | "limit" | "needed" | "wanted">,
): LeasedOfQuota & { granted: number } {
  const before = known && known.period >= period ? Math.max(known.leased, used) : used;
  const left = limit - before;
  const granted = left >= needed ? Math.min(left, wanted) : 0;
  return { period: Math.max(known?.period ?? period, period), leased: before + granted, granted };
}
