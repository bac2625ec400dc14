/**
 * Every recorded request that was accepted tells its event. A request that is replayed becomes an event once more, or is a duplicate if its
 * event has an id; a job replays each of its requests once. Whatever the transform of the webhook did before, it does not know.
 */

import type { Job, WebhookRequest } from "../../../src/store/contract/index.ts";
import { numberOf, REPLAY_KIND } from "../deeds/replays.ts";
import type { DeliveryNote } from "../journal-notes.ts";
import { dataOf, type Evidence } from "./evidence.ts";

type Fault = (message: string) => void;

const ACCEPTED = "accepted";

export function checkReplays(evidence: Evidence, fault: Fault): void {
  const { journal, requests, scenario } = evidence.played;
  const numberOfEvent = (id: string | null) => dataOf(evidence.eventWithId(id ?? "")).n;
  for (const record of requests.filter(({ outcome }) => outcome === ACCEPTED))
    if (numberOfEvent(record.eventId) !== numberOf(record)) fault(`the record of request ${numberOf(record)} tells another event`);
  for (const { n, outcome } of journal.replays)
    if (outcome !== null && outcome !== "refused" && numberOfEvent(outcome.eventId) !== n)
      fault(`request ${n} was replayed as another event`);
  for (const { transform } of scenario.hooks ?? []) if (transform === "counting") checkCounts(evidence, fault);
}

/** Each call of the transform is its first. */
function checkCounts(evidence: Evidence, fault: Fault): void {
  for (const event of evidence.played.events.filter(({ source }) => source.kind === "webhook")) {
    const { n, calls, seen, type } = JSON.parse(event.data) as Record<string, unknown>;
    if (calls !== 1 || seen !== 1) fault(`the transform of request ${n} knew of others: ${calls} calls, ${seen} requests`);
    if (type !== "application/json") fault(`the transform of request ${n} was given the content type ${type}`);
  }
}

export interface Replays {
  /** How many events they made of a request. */
  least: number;
  most: number;
  /** Beyond that: whether one of them may have made its first event. A listed item that was refused keeps its key, and a pass may have recovered it before. */
  mayRecover: boolean;
}

export function replaysOf(evidence: Evidence, { n, hasId }: DeliveryNote): Replays {
  const { journal, requests, jobs } = evidence.played;
  const notes = journal.replays.filter((note) => note.n === n && note.outcome !== "refused");
  const records = requests.filter((record) => numberOf(record) === n);
  const counts = jobs.filter(({ kind }) => kind === REPLAY_KIND).map((job) => itemsOf(evidence, job, records));
  const mayRecover = counts.some((count) => count.mayRecover);
  // Its event is stored once, whoever makes it.
  if (hasId) return { least: 0, most: 0, mayRecover };
  return {
    least: counts.reduce((sum, { least }) => sum + least, notes.filter(({ outcome }) => outcome !== null).length),
    most: counts.reduce((sum, { most }) => sum + most, notes.length),
    mayRecover,
  };
}

/** How many of these records the job has replayed. */
function itemsOf(evidence: Evidence, job: Job, records: readonly WebhookRequest[]): Replays {
  const { outcome } = JSON.parse(job.filter) as { outcome: string };
  const isOlder = (record: WebhookRequest) => record.outcome === outcome && record.receivedAt < job.createdAt;
  // What the job replays may be recorded in the instant in which it is made.
  const isWhole = evidence.played.requests.filter(isOlder).length === job.total;
  const listed = records.filter(
    (record) => isOlder(record) || (!isWhole && record.outcome === outcome && record.receivedAt === job.createdAt),
  );
  const others = listed.filter((record) => !isRefusedItem(record));
  const isSure = job.status === "completed" && job.failed === 0;
  return {
    least: isSure ? others.filter((record) => isStored(evidence, job, record)).length : 0,
    most: others.length,
    mayRecover: others.length < listed.length,
  };
}

function isRefusedItem({ isReconciled, eventId, bodyKey }: WebhookRequest): boolean {
  return isReconciled && eventId === null && bodyKey !== null;
}

/** When the job was asked for. In virtual time, storing takes none. */
function isStored(evidence: Evidence, job: Job, { receivedAt, eventId }: WebhookRequest): boolean {
  const { scenario, journal } = evidence.played;
  if (!scenario.isRealTime) return receivedAt < job.createdAt - evidence.jumbleMs;
  const { askedAt = 0 } = journal.jobs.find(({ id }) => id === job.id) ?? {};
  return (journal.storedLastAt.get(eventId ?? "") ?? Number.POSITIVE_INFINITY) < askedAt;
}
