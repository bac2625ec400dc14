/**
 * The kind webhooks.drill: sends a webhook of all branches the requests that a provider may send, in one branch environment, and
 * reports for each what was expected and what happened. An item is one request. The id of its event follows from the job and its
 * position: a request that is sent again after a crash makes the same event, which is stored once, and is judged in the same way.
 */

import { setTimeout as pause } from "node:timers/promises";
import { type DrillKind, type EventId, type EventIdSeed, type FunctionNo, parseEventIdSeed, seededEventId } from "@inlet/protocol";
import { invalid, RestRefusal } from "../../api/rest-errors.ts";
import type { Environment, FunctionStartStore, Job, JobError, RunStore, Webhook } from "../../store/contract/index.ts";
import type { JobKind } from "../job-kind.ts";
import { checkRequest, type SentRequest, type StoredEntry, signingTime } from "./drill/drill-entry.ts";
import { type EventRun, hasEnded, withFunctions } from "./drill/drill-functions.ts";
import { type PlannedRequest, planDrill } from "./drill/plan-drill.ts";
import { seedOfItem } from "./seed-of-item.ts";

export interface DrillWebhookParts {
  store: Pick<RunStore, "runList"> & Pick<FunctionStartStore, "startsUndecided">;
  webhooks(): readonly Webhook[];
  environment(id: Environment["id"]): Environment | undefined;
  functionId(no: FunctionNo): string;
  drill: {
    /** The keys of the samples of a webhook. */
    samples(webhook: Webhook): Promise<readonly string[]>;
    /** Null: the sample has been removed. */
    send(params: {
      webhook: Webhook;
      environment: string;
      sample: string;
      form: "whole" | "forged" | "malformed";
      signedAt: number;
      seed: string;
    }): Promise<(SentRequest & { refusal: string | null }) | null>;
  };
  now(): number;
}

export interface DrillFilter {
  webhook: string;
  environment: string;
  kinds: readonly DrillKind[];
}

/** Few: they are sent one after the other, and all of them again after a crash. */
const BATCH_MAX = 5;
/** Runs that take longer are reported as they are. */
const RUNS_WAIT_MAX_MS = 600_000;
const POLL_INTERVAL_MS = 200;
const POLLS_PER_STEP = 4;
const RUNS_PER_EVENT_MAX = 1_000;

export function drillWebhook(parts: DrillWebhookParts): JobKind {
  return {
    kind: "webhooks.drill",
    filters: {},
    takesAll: false,
    hasOwnRoute: true,
    batchMax: BATCH_MAX,
    async find(environment, filter) {
      const { webhook: id, kinds } = filter as unknown as DrillFilter;
      const plan = planDrill(kinds, await parts.drill.samples(openWebhook(parts, environment, id)));
      if (plan.length === 0) {
        throw invalid("webhook", "has no samples: send it a request that it accepts first");
      }
      // Items are worked on from the last to the first.
      const items = plan.map((planned) => JSON.stringify(planned)).reverse();
      return { found: items.map((item) => ({ item, sample: () => item })), next: null };
    },
    async work(job, items) {
      const entries = readEntries(job);
      const failures: JobError[] = [];
      for (const item of items) {
        const { entry, difference } = await sendOne(parts, job, entries, JSON.parse(String(item)) as PlannedRequest);
        entries.push(entry);
        if (difference !== null) failures.push({ item: entry.sent.sample, message: difference });
      }
      return { starts: [], failures, report: JSON.stringify(entries) };
    },
    settle: (job) => settle(parts, job),
  };
}

/** The webhook, if it and the environment still allow the drill. */
function openWebhook({ webhooks, environment: known }: DrillWebhookParts, environment: Environment, id: string): Webhook {
  const webhook = webhooks().find((candidate) => candidate.id === id && candidate.deletedAt === null);
  if (!webhook) throw new RestRefusal("webhook_not_found", `There is no webhook ${id}.`);
  if (known(webhook.environmentId)?.kind !== "shared")
    throw invalid("webhook", "must be a webhook of branch: create one with the same transform");
  if (!webhook.enabled) throw invalid("webhook", "is disabled: enable it first");
  if (webhook.verify && webhook.secrets.verify.length === 0) throw invalid("webhook", "waits for its secret: set it first");
  if (environment.kind !== "branch") throw invalid("environment", "must be a branch environment");
  if (environment.archivedAt !== null) throw invalid("environment", "is archived: nothing runs there");
  return webhook;
}

async function sendOne(
  parts: DrillWebhookParts,
  job: Job,
  entries: readonly StoredEntry[],
  planned: PlannedRequest,
): Promise<{ entry: StoredEntry; difference: string | null }> {
  const environment = parts.environment(job.environmentId);
  if (!environment) throw new Error("the environment of the job is not known here");
  const { kind, sample } = planned;
  const webhook = openWebhook(parts, environment, (JSON.parse(job.filter) as DrillFilter).webhook);
  const seed = seedOfItem(job, String(entries.length));
  const toleranceMs = (webhook.verify?.toleranceSeconds ?? 0) * 1_000;
  const signedAt = signingTime(entries, planned, { now: parts.now(), toleranceMs });
  const form = kind === "forged" || kind === "malformed" ? kind : "whole";
  const sent = await parts.drill.send({ webhook, environment: environment.name, sample, form, signedAt, seed });
  if (!sent) throw new RestRefusal("webhook_request_not_found", `The recorded request ${sample} has been removed.`);
  const newId = seededEventId(parseEventIdSeed(seed) as EventIdSeed, 1);
  const entry = checkRequest(entries, planned, sent, { newId, signedAt, acceptedStatus: webhook.answer?.status ?? 200 });
  return { entry, difference: entry.ok ? null : differenceText(entry, sent.refusal) };
}

function differenceText({ kind, expected, happened }: StoredEntry, refusal: string | null): string {
  const text = ({ status, events }: StoredEntry["expected"]) => `${status} and ${events === 0 ? "no new event" : "one new event"}`;
  return `${kind}: expected ${text(expected)}, got ${text(happened)}${refusal === null ? "" : ` (${refusal})`}`;
}

function readEntries({ report }: Pick<Job, "report">): StoredEntry[] {
  return report === null ? [] : (JSON.parse(report) as StoredEntry[]);
}

/** Waits until all starts are decided and the runs of all events have ended, and reports them. */
async function settle(parts: DrillWebhookParts, job: Job) {
  const entries = readEntries(job);
  const eventIds = new Set(entries.flatMap(({ eventId }) => (eventId === null ? [] : [eventId])));
  const runs = new Map<EventId, readonly EventRun[]>();
  const undecided = new Set<EventId>();
  const isOpen = (id: EventId) => undecided.has(id) || !runs.get(id)?.every(hasEnded);
  for (let polls = 0; polls < POLLS_PER_STEP && [...eventIds].some(isOpen); polls++) {
    if (polls > 0) await pause(POLL_INTERVAL_MS);
    const open = [...eventIds].filter(isOpen);
    undecided.clear();
    // Before the runs are read: a start that is decided then has its run.
    for (const id of await parts.store.startsUndecided({ environmentId: job.environmentId, eventIds: open })) undecided.add(id);
    for (const id of open) runs.set(id, await runsOf(parts, job, id));
  }
  const open = [...eventIds].filter(isOpen).length;
  const waits = open > 0 && parts.now() - (job.startedAt ?? job.createdAt) < RUNS_WAIT_MAX_MS;
  const report = JSON.stringify(withFunctions(entries, runs, parts.functionId));
  const late = { item: null, message: `Runs of ${open} events had not ended after 10 minutes: they are reported as they were.` };
  return waits ? { waits } : { waits, report, failures: open > 0 ? [late] : [] };
}

/** Runs that the event itself started: not those that people or jobs started again. */
async function runsOf({ store }: DrillWebhookParts, { environmentId }: Job, eventId: EventId): Promise<EventRun[]> {
  const { runs } = await store.runList({ environmentId, eventId, eventRelation: "started", limit: RUNS_PER_EVENT_MAX });
  return runs.filter(({ originalRunId, jobId }) => originalRunId === null && jobId === null);
}
