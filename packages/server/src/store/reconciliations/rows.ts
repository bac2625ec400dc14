/** Converts a row of the reconciliations table, as both engines read it, to the contract's Reconciliation. */

import type { EnvironmentId, JobId, WebhookId } from "@inlet/protocol";
import type { Reconciliation } from "../contract/index.ts";

export interface ReconciliationRow {
  environment_id: number;
  webhook_id: string;
  job_id: string;
  at: number;
  started_at: number;
  since_at: number;
  until_at: number;
  scheduled: number;
  listed: number;
  seen: number;
  recovered: number;
  failed: number;
  error: string | null;
}

/** In the order of RECONCILIATION_COLUMNS. */
export function reconciliationValues(pass: Reconciliation) {
  const { environmentId, webhookId, jobId, at, startedAt, since, until, isScheduled, listed, seen, recovered, failed, error } = pass;
  return [
    environmentId,
    webhookId,
    jobId,
    at,
    startedAt,
    since,
    until,
    Number(isScheduled),
    listed,
    seen,
    recovered,
    failed,
    error,
  ] as const;
}

export const RECONCILIATION_COLUMNS = [
  ...(["environment_id", "webhook_id", "job_id", "at", "started_at", "since_at", "until_at", "scheduled"] as const),
  ...(["listed", "seen", "recovered", "failed", "error"] as const),
] as const;

export function toReconciliation(row: ReconciliationRow): Reconciliation {
  return {
    environmentId: row.environment_id as EnvironmentId,
    webhookId: row.webhook_id as WebhookId,
    jobId: row.job_id as JobId,
    at: row.at,
    startedAt: row.started_at,
    since: row.since_at,
    until: row.until_at,
    isScheduled: row.scheduled === 1,
    listed: row.listed,
    seen: row.seen,
    recovered: row.recovered,
    failed: row.failed,
    error: row.error,
  };
}

/** A page of rows that were read with one more than `limit`. */
export function pageOfReconciliations(rows: readonly ReconciliationRow[], limit: number) {
  const passes = rows.slice(0, limit).map(toReconciliation);
  return { passes, next: rows.length > limit ? (passes.at(-1)?.jobId ?? null) : null };
}
