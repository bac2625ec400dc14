/**
 * A step that starts to wait looks back for events that were stored before it. The newest events are examined in the transaction that
 * stores the wait, under the lock of the name; if there are more since the step before it ended, further transactions examine all of
 * them, oldest first (continue-resumptions.ts). Events stored after the wait find it themselves.
 */

import type { RunNo, StepId } from "@inlet/protocol";
import { LOOK_BACK_EVENTS_MAX, type WaitRules } from "../../contract/index.ts";
import { selectEvents } from "../../events/postgres/select-events.ts";
import { type EventRow, toStoredEvent } from "../../events/rows/event-rows.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import { boundedSlice, EVENT_BYTES, rowsWithin } from "../../postgres/rows-within.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { PAGE_BYTES_MAX } from "../../shared/byte-bounds.ts";
import { coversLookBack, type MatchedWait, type NewestEvents, seenEvent } from "../policy.ts";
import { keptOf, type LookedBack } from "../rows.ts";
import { type Meeting, matchWaits } from "./match-waits.ts";
import { resumeBy } from "./resume-runs.ts";
import { startLookBack, waitKey } from "./waits.ts";

const OF_NAME = "WHERE environment_id = $1 AND name_id = (SELECT name_id FROM event_names WHERE name = $2)";
const NEWEST = rowsWithin(
  `(${selectEvents(`${OF_NAME} AND received_at >= $3 ORDER BY received_at DESC, sequence DESC LIMIT ${LOOK_BACK_EVENTS_MAX}`)})`,
  "received_at DESC, sequence DESC",
  EVENT_BYTES,
  PAGE_BYTES_MAX,
);
const AFTER = rowsWithin(
  `(${selectEvents(`${OF_NAME} AND (received_at, sequence) > ($3, $4) ORDER BY received_at, sequence LIMIT ${LOOK_BACK_EVENTS_MAX}`)})`,
  "received_at, sequence",
  EVENT_BYTES,
  PAGE_BYTES_MAX,
);

type BoundedRow = EventRow & { rows_found: number };

/** A wait that has just been stored. */
export interface LookingBack {
  allocation: LeaseAllocation;
  runNo: RunNo;
  wait: PendingWrites["waitsAdded"][number]["wait"];
}

type NewestWait = MatchedWait & { runNo: RunNo; stepId: StepId; allocation: LeaseAllocation };

export async function lookBack(writes: PendingWrites, rules: WaitRules, added: readonly LookingBack[]): Promise<void> {
  const byName = new Map<string, NewestWait[]>();
  for (const { wait, runNo, allocation } of added) {
    const { kind, stepId, eventName, since, expiresAt, expression } = wait;
    if (kind !== "event" || stepId === null) continue;
    const kept = keptOf(waitKey(eventName, wait.match));
    byName.set(eventName, [...(byName.get(eventName) ?? []), { kind, runNo, stepId, allocation, since, expiresAt, expression, kept }]);
  }
  for (const [name, waits] of byName) await lookBackFor(writes, rules, name, waits);
}

async function lookBackFor(writes: PendingWrites, rules: WaitRules, eventName: string, waits: readonly NewestWait[]): Promise<void> {
  const newest = await newestEvents(writes, eventName, Math.min(...waits.map(({ since }) => since)));
  startLookBack(
    writes,
    waits.filter((wait) => !coversLookBack(wait, newest)),
  );
  const meeting: Meeting<NewestWait, NewestEvents["events"][number]> = {
    waits: waits.filter((wait) => coversLookBack(wait, newest)),
    seen: newest.events,
  };
  const { matches } = await matchWaits(writes, rules, [meeting]);
  await resumeBy(
    writes,
    matches.map(({ wait: { allocation, runNo, stepId }, seen }) => ({
      allocation,
      runNo,
      stepId,
      eventSequence: seen.sequence,
      endedRunNo: null,
    })),
  );
}

async function newestEvents(writes: PendingWrites, eventName: string, since: number): Promise<NewestEvents> {
  const found = await writes.rows<BoundedRow>(NEWEST, writes.environmentId, eventName, since);
  const { rows, isEnd } = boundedSlice(found, LOOK_BACK_EVENTS_MAX);
  return { events: inOrder(rows), isWhole: isEnd };
}

/** The next events of a name: bounded in number and size. */
export async function eventsAfter(writes: PendingWrites, eventName: string, { at, no }: LookedBack) {
  const found = await writes.rows<BoundedRow>(AFTER, writes.environmentId, eventName, at, no);
  const { rows, isEnd } = boundedSlice(found, LOOK_BACK_EVENTS_MAX);
  return { events: inOrder(rows), isEnd };
}

function inOrder(rows: readonly EventRow[]) {
  return rows.map((row) => seenEvent(toStoredEvent(row))).sort((a, b) => a.receivedAt - b.receivedAt || a.sequence - b.sequence);
}
