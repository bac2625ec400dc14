/**
 * Writes batches of events and everything they cause, inside the transaction of their group. The caller
 * holds the locks of their names (locks.ts).
 */

import type { EventId, RunNo } from "@inlet/protocol";
import type { EventAppendResult, EventBatch, NewEvent } from "../../contract/index.ts";
import { dedupKeyOf, type KeyHash } from "../../dedup-keys/policy.ts";
import { claimKeys, type KeyHolder } from "../../dedup-keys/postgres.ts";
import { startEntry } from "../../function-starts/policy.ts";
import { noteMirrors } from "../../mirrors/postgres.ts";
import { boundedKey } from "../../postgres/bounded-key.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { addEntry, startRun } from "../../runs/postgres/start-runs.ts";
import { addBatch } from "../../usage/policy.ts";
import { writeUsage } from "../../usage/postgres.ts";
import { recordRequests } from "../../webhook-requests/postgres/webhook-requests.ts";
import { countDuplicates, insertEvents, type StoredNow } from "./insert-events.ts";
import type { InternedNumbers } from "./interned-ids.ts";

export interface Appending {
  batch: EventBatch;
  allocation: LeaseAllocation;
  /** It may have been written before: what an earlier attempt stored is not a duplicate. */
  mayBeWritten: boolean;
}

export interface Appended {
  results: Omit<EventAppendResult, "leased">[];
  /** The stored events for whose names something waits, waits of this group included. */
  awaited: (StoredNow & { allocation: LeaseAllocation })[];
}

/** The outcome for an event: it is stored, it duplicates another one, or it was written by an earlier attempt. */
type Outcome = { kind: "stored" } | { kind: "duplicate"; first: EventId; wasCounted?: true } | { kind: "written" };

interface Candidate extends Appending {
  event: NewEvent;
  outcome: Outcome;
}

export interface AppendEventsParts {
  numbers: InternedNumbers;
  keyHash: KeyHash;
}

export async function appendEvents(
  writes: PendingWrites,
  { numbers, keyHash }: AppendEventsParts,
  appendings: readonly Appending[],
): Promise<Appended> {
  const candidates = appendings.map((appending) =>
    appending.batch.events.map((event): Candidate => ({ ...appending, event, outcome: { kind: "stored" } })),
  );
  const all = candidates.flat();
  await findPresentIds(writes, all);
  await claimDedupKeys(writes, keyHash, all);
  findRepeatedIds(all);
  for (const group of candidates) noteCounted(group);
  for (const group of candidates) noteUsage(writes, group);
  // Sent along with the events, where nothing else is written after them: the figures alone would take a round trip more.
  if (!all.some(({ event }) => event.runs?.length)) writeUsage(writes);
  const awaited = await store(
    writes,
    numbers,
    all.filter(({ outcome }) => outcome.kind === "stored"),
  );
  const firsts = all.flatMap(({ outcome }) => (isUncounted(outcome) ? [outcome.first] : []));
  countDuplicates(writes, firsts);
  const results = candidates.map(resultOf);
  recordRequests(
    writes,
    appendings.flatMap(({ batch }, index) => {
      const request = batch.webhookRequest;
      return request ? [{ request, eventId: results[index]?.ids[0] ?? null }] : [];
    }),
  );
  noteMirrors(
    writes,
    all.flatMap(({ batch: { environmentId, mirror }, event, outcome }) =>
      mirror && outcome.kind === "stored" ? [{ environmentId, eventId: event.id, ...mirror }] : [],
    ),
  );
  return { results, awaited };
}

/** Ids chosen by senders, and ids of batches that may have been written before. */
async function findPresentIds(writes: PendingWrites, candidates: readonly Candidate[]): Promise<void> {
  const asked = candidates.filter(({ batch, mayBeWritten }) => batch.idsFromSender || mayBeWritten);
  if (asked.length === 0) return;
  const rows = await writes.rows<{ event_id: EventId; received_at: number }>(
    "SELECT event_id, received_at FROM events WHERE environment_id = $1 AND event_id = ANY ($2::text[])",
    writes.environmentId,
    asked.map(({ event }) => event.id),
  );
  const present = new Map(rows.map(({ event_id, received_at }) => [event_id, received_at]));
  for (const candidate of asked) {
    const { event } = candidate;
    const receivedAt = present.get(event.id);
    if (receivedAt !== undefined) candidate.outcome = outcomeOf(candidate, { eventId: event.id, receivedAt });
  }
}

/** Of an event whose id or dedup id is taken. A request that was sent again with the same ids was received at another time. */
function outcomeOf({ event, batch, mayBeWritten }: Candidate, { eventId, receivedAt }: KeyHolder): Outcome {
  const isOwn = mayBeWritten && eventId === event.id && receivedAt === batch.receivedAt;
  return isOwn ? { kind: "written" } : { kind: "duplicate", first: eventId };
}

/** An id chosen by a sender that the group already stores is the same event, sent again. */
function findRepeatedIds(candidates: readonly Candidate[]): void {
  const stored = new Set<EventId>();
  for (const candidate of candidates) {
    const { event, batch, outcome } = candidate;
    if (outcome.kind !== "stored") continue;
    if (batch.idsFromSender && stored.has(event.id)) candidate.outcome = { kind: "duplicate", first: event.id };
    stored.add(event.id);
  }
}

/** A batch is written whole: the earlier attempt that wrote one of its events also counted its duplicates. */
function noteCounted(batch: readonly Candidate[]): void {
  if (!batch.some(({ outcome }) => outcome.kind === "written")) return;
  for (const { outcome } of batch) if (outcome.kind === "duplicate") outcome.wasCounted = true;
}

function isUncounted(outcome: Outcome): outcome is Outcome & { kind: "duplicate" } {
  return outcome.kind === "duplicate" && !outcome.wasCounted;
}

async function claimDedupKeys(writes: PendingWrites, keyHash: KeyHash, candidates: readonly Candidate[]): Promise<void> {
  const keyed = candidates.filter(({ event, outcome }) => event.dedupId !== null && outcome.kind === "stored");
  const claims = keyed.map(({ event, batch }) => ({
    key: boundedKey(dedupKeyOf(batch, event.dedupId as string, keyHash)),
    eventId: event.id,
    receivedAt: batch.receivedAt,
    duplicateSince: batch.duplicateSince,
  }));
  const holders = await claimKeys(writes, claims);
  for (const [index, candidate] of keyed.entries()) {
    const holder = holders[index];
    if (holder) candidate.outcome = outcomeOf(candidate, holder);
  }
}

async function store(writes: PendingWrites, interned: InternedNumbers, candidates: readonly Candidate[]): Promise<Appended["awaited"]> {
  if (candidates.length === 0) return [];
  const { sequences, runNos, awaited } = await insertEvents(writes, interned, candidates);
  const stored = candidates.map(({ batch, event, allocation }, index) => ({
    batch,
    event,
    allocation,
    sequence: sequences[index] as number,
  }));
  writes.notices.hasEvents = true;
  for (const { event, allocation, sequence } of stored) {
    for (const run of event.runs ?? []) startRun(writes, allocation, runNos.shift() as RunNo, sequence, run);
    for (const start of event.starts ?? []) addEntry(writes, allocation, startEntry(writes.environmentId, sequence, start));
  }
  for (const { wait } of writes.waitsAdded) awaited.add(wait.eventName);
  return stored.filter(({ event }) => awaited.has(event.name));
}

function noteUsage(writes: PendingWrites, candidates: readonly Candidate[]): void {
  const [first] = candidates;
  const stored = candidates.filter(({ outcome }) => outcome.kind === "stored");
  const duplicates = candidates.filter(({ outcome }) => isUncounted(outcome)).length;
  const runs = stored.reduce((sum, { event }) => sum + (event.runs?.length ?? 0), 0);
  if (first) addBatch(writes.usage, first.batch, { events: stored.length, duplicates, runs });
}

function resultOf(candidates: readonly Candidate[]): Omit<EventAppendResult, "leased"> {
  const ids = candidates.map(({ event, outcome }) => (outcome.kind === "duplicate" ? outcome.first : event.id));
  return { ids, duplicates: candidates.filter(({ outcome }) => outcome.kind === "duplicate").length };
}
