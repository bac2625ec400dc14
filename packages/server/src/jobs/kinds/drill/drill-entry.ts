/** One request of a drill: when it is signed, what is expected of it, and what is kept of it in the report. */

import type { DrillEntry, DrillOutcome, EventId } from "@inlet/protocol";
import { isToBeAccepted, type PlannedRequest } from "./plan-drill.ts";

/** An entry of the report, with what later entries need. */
export interface StoredEntry extends DrillEntry {
  sampleKey: string;
  signedAt: number;
  /** The event that it became, or that it is a duplicate of. */
  eventId: EventId | null;
}

export interface SentRequest {
  title: string;
  contentType: string;
  bytes: number;
  status: number;
  eventId: EventId | null;
}

/** A retry is signed later than the request before it, also within one second: signatures hold whole seconds. */
const RETRY_AFTER_MS = 1_000;

/** A copy is byte for byte the same, unless its signature would soon be refused for its age. */
export function signingTime(
  entries: readonly StoredEntry[],
  { kind, sample }: PlannedRequest,
  { now, toleranceMs }: { now: number; toleranceMs: number },
): number {
  const first = entries.find((entry) => isCopy(entry, sample));
  if (!first) return now;
  if (kind === "retries") return Math.max(now, first.signedAt + RETRY_AFTER_MS);
  return kind === "duplicates" && now - first.signedAt <= toleranceMs / 2 ? first.signedAt : now;
}

/** `newId` is the id of the event if it is a new one. `acceptedStatus` is what the webhook answers to a request it accepts. */
export function checkRequest(
  entries: readonly StoredEntry[],
  { kind, sample }: PlannedRequest,
  { title, contentType, bytes, status, eventId }: SentRequest,
  { newId, acceptedStatus, signedAt }: { newId: EventId; acceptedStatus: number; signedAt: number },
): StoredEntry {
  const copies = entries.filter((entry) => isCopy(entry, sample)).length;
  const happened = { status, events: eventId === newId ? 1 : 0 };
  const isKnown = eventId !== null && eventId !== newId && !entries.some((entry) => entry.eventId === eventId);
  const expected = expectedOf(kind, acceptedStatus, copies > 0 || isKnown);
  return {
    kind,
    sent: { sample: title, copy: copies + 1, contentType, bytes },
    expected,
    happened,
    ok: expected.status === happened.status && expected.events === happened.events,
    functions: [],
    sampleKey: sample,
    signedAt,
    eventId,
  };
}

/** `isRepeated`: the drill has sent the sample before, or the environment has its event from an earlier time. */
function expectedOf(kind: PlannedRequest["kind"], acceptedStatus: number, isRepeated: boolean): DrillOutcome {
  if (kind === "forged") return { status: 401, events: 0 };
  if (kind === "malformed") return { status: 400, events: 0 };
  return { status: acceptedStatus, events: isRepeated ? 0 : 1 };
}

function isCopy({ kind, sampleKey }: StoredEntry, sample: string): boolean {
  return sampleKey === sample && isToBeAccepted(kind);
}
