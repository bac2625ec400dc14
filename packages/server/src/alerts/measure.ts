/** The measurement of a rule, from the store's figures for the last minutes. */

import type { FunctionNo } from "@inlet/protocol";
import type {
  AlertRule,
  EventCursor,
  EventPage,
  EventStore,
  QueueStore,
  ReconciliationStore,
  RunEndCount,
  RunStore,
  Webhook,
  WebhookRequestStore,
} from "../store/contract/index.ts";
import type { Silences } from "./silence.ts";

export interface MeasureParts {
  store: Pick<RunStore, "runEndCount"> &
    Pick<EventStore, "eventList" | "eventCountUnmatched"> &
    Pick<QueueStore, "queueDepths" | "queueFunctionDepths"> &
    Pick<WebhookRequestStore, "webhookRequestCounts"> &
    Pick<ReconciliationStore, "reconciliationRecovered">;
  functionNos(environmentId: AlertRule["environmentId"], functionId: string | null): readonly FunctionNo[];
  webhooks(): readonly Webhook[];
  /** The name of the internal event that reports drift. */
  driftEvent: string;
  silences: Pick<Silences, "measure">;
  /** How much of the quota that is used most, in percent; 0 if no quota is set. */
  quotaUsed(environmentId: AlertRule["environmentId"]): Promise<number>;
  /** Of the database that the environment is on. */
  archiveFailingSince(environmentId: AlertRule["environmentId"]): Promise<number | null>;
  now(): number;
}

/** Of a function's runs with one status, looked at for those that ended in the window. */
const RUNS_MAX = 10_000;
/** Of an environment's events, looked at for those that nothing waited for. */
const EVENTS_MAX = 100_000;
const PAGE = 500;
/** Pages read for one rule, to bound its cost. */
const PAGES_MAX = 40;
const NOT_REFUSED: ReadonlySet<string> = new Set(["accepted", "handshake"]);

export interface Measured {
  value: number;
  /** Whether the alert is to be raised. */
  isOver: boolean;
}

export async function measure(parts: MeasureParts, rule: AlertRule): Promise<Measured> {
  if (rule.kind === "silence") return parts.silences.measure(rule);
  const value = await figureOf(parts, { ...rule, kind: rule.kind, windowMs: rule.windowMs ?? 0 });
  return { value, isOver: rule.threshold !== null && value >= rule.threshold };
}

/** A rule with a threshold. */
type WindowRule = AlertRule & { kind: Exclude<AlertRule["kind"], "silence">; windowMs: number };

function figureOf(parts: MeasureParts, rule: WindowRule): Promise<number> {
  switch (rule.kind) {
    case "failure_rate":
    case "failure_count":
      return failures(parts, rule);
    case "queue_age":
      return queueAge(parts, rule);
    case "refused_requests":
      return refusedRequests(parts, rule);
    case "unmatched_events":
      return unmatchedEvents(parts, rule);
    case "quota_used":
      return parts.quotaUsed(rule.environmentId);
    case "archive_failing":
      return archiveFailing(parts, rule);
    case "schema_drift":
      return schemaDrift(parts, rule);
    case "missed_webhooks":
      return missedWebhooks(parts, rule);
  }
}

/**
 * By when runs ended: a run that fails after its retries may have been created long before. If more runs ended in the window than are
 * looked at, the rate is estimated from those created last: both counts are of the same last part of the window.
 */
async function failures(parts: MeasureParts, rule: WindowRule): Promise<number> {
  const since = parts.now() - rule.windowMs;
  const failed = await ends(parts, rule, "failed", since);
  if (rule.kind === "failure_count" || failed.count === 0) return failed.count;
  const completed = await ends(parts, rule, "completed", since);
  const countedFrom = Math.max(failed.countedFrom, completed.countedFrom);
  if (countedFrom === since) return rate(failed, completed);
  return rate(await ends(parts, rule, "failed", countedFrom), await ends(parts, rule, "completed", countedFrom));
}

function rate(failed: RunEndCount, completed: RunEndCount): number {
  return (failed.count / (failed.count + completed.count)) * 100;
}

async function ends(
  { store, functionNos }: MeasureParts,
  { environmentId, functionId }: WindowRule,
  status: "failed" | "completed",
  since: number,
): Promise<RunEndCount> {
  const counts = await Promise.all(
    functionNos(environmentId, functionId).map((functionNo) =>
      store.runEndCount({ environmentId, functionNo, status, since, limit: RUNS_MAX }),
    ),
  );
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    countedFrom: Math.max(since, ...counts.map(({ countedFrom }) => countedFrom)),
  };
}

async function queueAge({ store, functionNos, now }: MeasureParts, { environmentId, functionId }: WindowRule): Promise<number> {
  const age = (oldest: number | null) => (oldest === null ? 0 : Math.max(0, (now() - oldest) / 1_000));
  if (functionId === null) {
    const depth = (await store.queueDepths()).find((one) => one.environmentId === environmentId);
    return age(depth?.oldestDueAt ?? null);
  }
  const nos = new Set(functionNos(environmentId, functionId));
  const depths = (await store.queueFunctionDepths()).filter(({ functionNo }) => nos.has(functionNo));
  return Math.max(0, ...depths.map(({ oldestDueAt }) => age(oldestDueAt)));
}

async function refusedRequests({ store, webhooks, now }: MeasureParts, { environmentId, windowMs }: WindowRule): Promise<number> {
  const to = now() + 1;
  const window = { environmentId, from: to - windowMs, to, intervalMs: windowMs };
  const ofEnvironment = webhooks().filter((one) => one.environmentId === environmentId && one.deletedAt === null);
  let refused = 0;
  for (const { id: webhookId } of ofEnvironment) {
    const counts = await store.webhookRequestCounts({ ...window, webhookId });
    for (const { outcome, count } of counts) if (!NOT_REFUSED.has(outcome)) refused += count;
  }
  return refused;
}

function unmatchedEvents({ store, now }: MeasureParts, { environmentId, windowMs }: WindowRule): Promise<number> {
  return store.eventCountUnmatched({ environmentId, from: now() - windowMs, limit: EVENTS_MAX });
}

/** Fields and types that events had for the first time: each is reported once in 24 hours, in a small event. */
async function schemaDrift({ store, driftEvent, now }: MeasureParts, { environmentId, windowMs }: WindowRule): Promise<number> {
  const params = { environmentId, name: driftEvent, from: now() - windowMs, limit: PAGE };
  let count = 0;
  let after: EventCursor | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const { events, next }: EventPage = await store.eventList({ ...params, ...(after && { after }) });
    count += events.length;
    if (next === null) break;
    after = next;
  }
  return count;
}

/** Items that passes of reconciliation recovered. */
function missedWebhooks({ store, now }: MeasureParts, { environmentId, windowMs }: WindowRule): Promise<number> {
  return store.reconciliationRecovered({ environmentId, since: now() - windowMs });
}

async function archiveFailing({ archiveFailingSince, now }: MeasureParts, { environmentId }: WindowRule): Promise<number> {
  const since = await archiveFailingSince(environmentId);
  return since === null ? 0 : Math.max(0, (now() - since) / 1_000);
}
