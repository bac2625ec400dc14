/** Maintenance: what each sweeper covers, and the retention times. */

import type { Logger } from "pino";
import { REMEMBERED_MS } from "../api/access/idempotency.ts";
import type { Config } from "../config/config.ts";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import type { DiskGuard } from "../maintenance/disk-guard.ts";
import { expireApprovals } from "../maintenance/expire-approvals.ts";
import { expireAuditEntries } from "../maintenance/expire-audit-entries.ts";
import { expireCancellations } from "../maintenance/expire-cancellations.ts";
import { expireDedupKeys } from "../maintenance/expire-dedup-keys.ts";
import { expireEvents } from "../maintenance/expire-events.ts";
import { expireFigures } from "../maintenance/expire-figures.ts";
import { expireIdempotencyKeys } from "../maintenance/expire-idempotency-keys.ts";
import { expireJobs } from "../maintenance/expire-jobs.ts";
import { expireMarks } from "../maintenance/expire-marks.ts";
import { expireRealtimeMessages } from "../maintenance/expire-realtime-messages.ts";
import { expireReconciliations } from "../maintenance/expire-reconciliations.ts";
import { expireRuns } from "../maintenance/expire-runs.ts";
import { expireSessions } from "../maintenance/expire-sessions.ts";
import { expireWebhookRequests } from "../maintenance/expire-webhook-requests.ts";
import { type ArchivingParts, isOverBudget, keepDiskBudget } from "../maintenance/keep-disk-budget.ts";
import { keepStoredBytes } from "../maintenance/keep-stored-bytes.ts";
import { maintainPartitions } from "../maintenance/maintain-partitions.ts";
import { createKeptScopes } from "../maintenance/retention-rules.ts";
import type { StoredBytesMeter } from "../maintenance/stored-bytes.ts";
import { createSweepLeadership } from "../maintenance/sweep-leadership.ts";
import type { Store } from "../store/contract/index.ts";
import type { Functions } from "./functions.ts";

export interface MaintenanceParts {
  config: Config;
  store: Store;
  dedupWindow: DedupWindow;
  /** Null: the disk may fill. */
  budgetBytes: number | null;
  /** Null without a budget. */
  disk: DiskGuard | null;
  meter: StoredBytesMeter;
  functions: Pick<Functions, "markNeededUntil">;
  /** Null: nothing is archived. */
  archive: ArchivingParts["archive"];
  log: Logger;
  now: () => number;
  /** How often sweepers run; absent: the usual. */
  everyMs?: number | undefined;
}

/** Runs from its start to its stop. */
export interface BackgroundService {
  start(): void;
  stop(): unknown;
}

export function createMaintenance({
  config,
  store,
  dedupWindow,
  budgetBytes,
  disk,
  meter,
  archive,
  log,
  now,
  everyMs,
  functions: { markNeededUntil },
}: MaintenanceParts): BackgroundService[] {
  const swept = { store, log, leadership: createSweepLeadership(store, now), now, ...(everyMs !== undefined && { everyMs }) };
  const installation = { eventsMs: config.eventRetention, runsMs: config.runRetention, requestsMs: config.requestRetention };
  const kept = createKeptScopes({ store, installation, now, isArchived: archive !== null });
  const isRefusing = () => disk?.isRefusing ?? false;
  const keepBudget = budgetBytes === null ? null : keepDiskBudget({ ...swept, budgetBytes, archive, isRefusing });
  disk?.whenUsed((usedBytes) => isOverBudget(usedBytes, budgetBytes ?? 0, isRefusing()) && keepBudget?.wake());
  return [
    expireDedupKeys({ ...swept, seenUntil: () => dedupWindow.duplicateSince(now()) }),
    expireWebhookRequests({ ...swept, scopes: kept.requests }),
    maintainPartitions({ ...swept, longestKept: kept.longest, archive }),
    expireEvents({ ...swept, scopes: kept.events }),
    expireRuns({ ...swept, scopes: kept.runs }),
    expireApprovals({ ...swept, scopes: kept.approvals }),
    ...(keepBudget ? [keepBudget] : []),
    ...(disk ? [disk] : []),
    keepStoredBytes({ ...swept, meter }),
    ...expireAuditEntries(swept),
    expireSessions(swept),
    expireIdempotencyKeys({ ...swept, startedUntil: () => now() - REMEMBERED_MS }),
    expireFigures(swept),
    expireMarks({ ...swept, neededUntil: markNeededUntil }),
    expireJobs(swept),
    expireReconciliations(swept),
    expireCancellations(swept),
    expireRealtimeMessages({ ...swept, publishedUntil: () => now() - config.streamRetention }),
  ];
}
