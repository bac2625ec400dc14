/** Passes of reconciliation: what a provider listed, and what of it had never been received. */

import type { JobView } from "@inlet/protocol";
import { queryOptions } from "@tanstack/react-query";
import { call, callForPage, parsed } from "./client.ts";

export interface Reconciliation {
  at: string;
  since: string;
  until: string;
  listed: number;
  seen: number;
  recovered: number;
  failed: number;
  error: string | null;
  job: string;
  scheduled: boolean;
}

const REFRESH_MS = 5_000;
const SHOWN_MAX = 50;

/** The newest passes. */
export const reconciliationsQuery = (webhookId: string) =>
  queryOptions({
    queryKey: ["reconciliations", webhookId],
    queryFn: async () => {
      const path = `/webhooks/${encodeURIComponent(webhookId)}/reconciliations`;
      return (await callForPage<Reconciliation>(path, parsed, { query: { limit: SHOWN_MAX } })).items;
    },
    refetchInterval: REFRESH_MS,
  });

/** What a pass would find. */
export interface ReconciliationPreview {
  listed: number;
  seen: number;
  recovered: number;
  failed: number;
  /** Why it would end before its end. */
  error?: string;
}

/** Starts a pass over the last hours. */
export function startReconciliation(webhookId: string, hours: number): Promise<JobView> {
  return order(webhookId, hours, {});
}

/** Stores nothing. */
export function previewReconciliation(webhookId: string, hours: number): Promise<ReconciliationPreview> {
  return order(webhookId, hours, { dryRun: true });
}

function order<Data>(webhookId: string, hours: number, more: { dryRun?: boolean }): Promise<Data> {
  const since = new Date(Date.now() - hours * 3_600_000).toISOString();
  return call<Data>(`/webhooks/${encodeURIComponent(webhookId)}/reconcile`, { method: "POST", body: { since, ...more } });
}
