/**
 * Ends the waits that events match. The run itself is not changed here: the entry of the waiting step becomes due and records the
 * event, and the node that claims it resumes the run. A run that the event cancels gets an entry for that.
 *
 * Neither an event nor a wait misses the other: an event holds the lock of its name shared while it looks for waits, and a step that
 * starts to wait holds it exclusively while it looks back for events.
 */

import type { RunNo } from "@inlet/protocol";
import { type NewEvent, TIMER_LANE, toStoreText, type WaitRules } from "../../contract/index.ts";
import type { LeaseAllocation } from "../../policy/lease-allocation.ts";
import { type EventRow, toStoredEvent } from "../../rows/event-rows.ts";
import { boundedKey } from "../bounded-key.ts";
import type { Appended } from "../events/append-events.ts";
import { selectEvents } from "../events/select-events.ts";
import type { GroupWrites } from "../group-writes.ts";
import { type Arrival, addEntries, makeDue } from "../queue/queue-entries.ts";
import { type RunStart, runStarts } from "./run-state.ts";
import { ANY_PATH, dropWaits, type FoundWait, findWaits, lockWaits, type WaitKey, waitPaths } from "./waits.ts";

/** Bounds how many past events a new wait examines. */
const RECENT_EVENTS_MAX = 10_000;
const EVENTS_SINCE = selectEvents(`
  WHERE environment_id = $1 AND name_id = (SELECT name_id FROM event_names WHERE name = $2) AND received_at >= $3
  ORDER BY received_at, sequence LIMIT ${RECENT_EVENTS_MAX}`);

/** A stored event that runs may wait for. */
interface Came {
  event: NewEvent;
  sequence: number;
  receivedAt: number;
  allocation: LeaseAllocation;
}

interface Match extends Came {
  wait: Pick<FoundWait, "no" | "kind" | "runNo" | "stepId">;
}

/** Called when these events have just been stored, in this order: those for whose names something waits. */
export async function resumeRuns(writes: GroupWrites, rules: WaitRules, stored: Appended["awaited"]): Promise<void> {
  if (stored.length === 0) return;
  const paths = await waitPaths(
    writes,
    stored.map(({ event }) => event.name),
  );
  if (paths.size === 0) return;
  const came = stored.map(({ batch, ...one }) => ({ ...one, receivedAt: batch.receivedAt, keys: keysOf(one.event, paths, rules) }));
  const keys = new Map(came.flatMap((one) => one.keys.map((key) => [JSON.stringify(key), key] as const)));
  const waits = await findWaits(writes, [...keys.values()]);
  const starts = await runStarts(
    writes,
    waits.map(({ runNo }) => runNo),
    { withEvents: waits.some(({ expression }) => expression !== null) },
  );
  const byKey = new Map<string, FoundWait[]>();
  for (const wait of waits) byKey.set(JSON.stringify(wait.kept), [...(byKey.get(JSON.stringify(wait.kept)) ?? []), wait]);
  const startedHere = new Map(writes.runsAdded.map(({ runNo, eventSequence }) => [runNo, eventSequence]));
  const matches = came.flatMap((one) =>
    one.keys
      .flatMap((key) => byKey.get(JSON.stringify(key)) ?? [])
      // A run started by a later event of the group did not exist yet.
      .filter((wait) => (startedHere.get(wait.runNo) ?? 0) <= one.sequence && isEnded(wait, one, starts.get(wait.runNo), rules))
      .map((wait): Match => ({ ...one, wait })),
  );
  await endWaits(writes, matches, starts);
}

/** Waits for the event's name, and the keys by which the event matches them. */
function keysOf(event: NewEvent, paths: ReadonlyMap<string, string[]>, rules: WaitRules): WaitKey[] {
  const name = toStoreText(event.name);
  return (paths.get(name) ?? []).flatMap((path) => {
    if (path === ANY_PATH) return [{ name, path, key: "" }];
    const key = rules.keyAt(event, path);
    return key === null ? [] : [{ name, path, key: boundedKey(key) }];
  });
}

/** The event that started a run neither resumes nor cancels it. */
function isEnded(
  wait: Pick<FoundWait, "since" | "expiresAt" | "expression">,
  { event, sequence, receivedAt, allocation }: Came,
  start: RunStart | undefined,
  rules: WaitRules,
): boolean {
  if (!start || start.run.eventSequence === sequence) return false;
  if (wait.since > receivedAt || wait.expiresAt <= allocation.now) return false;
  return wait.expression === null || (start.event !== null && rules.matches(wait, event, start.event));
}

/** Of several events that end one wait, the first is used. */
async function endWaits(writes: GroupWrites, matches: readonly Match[], starts: ReadonlyMap<RunNo, RunStart>): Promise<void> {
  if (matches.length === 0) return;
  const open = await lockWaits(writes, [...new Set(matches.map(({ wait }) => wait.no))]);
  const ending = matches.filter(({ wait }) => open.has(wait.no));
  const arrivals = ending.flatMap(({ wait: { kind, runNo, stepId }, allocation, sequence }): Arrival[] =>
    kind === "event" && stepId !== null ? [{ allocation, runNo, stepId, eventSequence: sequence, endedRunNo: null }] : [],
  );
  dropWaits(writes, await resumeBy(writes, arrivals));
  const cancelled = ending.filter(({ wait }) => wait.kind === "cancel");
  await cancelRuns(
    writes,
    cancelled.map(({ wait, allocation, sequence }) => ({ runNo: wait.runNo, allocation, eventSequence: sequence })),
    starts,
  );
}

async function resumeBy(writes: GroupWrites, arrivals: readonly Arrival[]): ReturnType<typeof makeDue> {
  const resumed = await makeDue(writes, arrivals);
  for (const { eventSequence } of resumed) if (eventSequence !== null) writes.markMatched(eventSequence);
  return resumed;
}

export interface Cancelling {
  allocation: LeaseAllocation;
  runNo: RunNo;
  eventSequence: number | null;
}

/** The node that claims the entry cancels the run. A run has at most one such entry. */
export async function cancelRuns(
  writes: GroupWrites,
  cancelled: readonly Cancelling[],
  known?: ReadonlyMap<RunNo, RunStart>,
): Promise<void> {
  if (cancelled.length === 0) return;
  const starts =
    known ??
    (await runStarts(
      writes,
      cancelled.map(({ runNo }) => runNo),
      { withEvents: false },
    ));
  const firsts = new Map(cancelled.toReversed().map((one) => [one.runNo, one]));
  const added = [...firsts.values()].flatMap(({ runNo, allocation, eventSequence }) => {
    const start = starts.get(runNo);
    if (!start) return [];
    const { now } = allocation;
    const write = {
      ...{ environmentId: writes.environmentId, functionNo: start.run.functionNo, runNo, rank: now, dueAt: now, lane: TIMER_LANE },
      ...{ kind: "cancel" as const, stepId: null, attempt: 0, subject: null, eventSequence },
    };
    return [{ allocation, write, position: allocation.position(write) }];
  });
  await addEntries(writes, added);
}

/** A wait that has just been stored. */
export interface LookingBack {
  allocation: LeaseAllocation;
  runNo: RunNo;
  wait: GroupWrites["waitsAdded"][number]["wait"];
}

/** Finds events that were stored shortly before the waits. */
export async function lookBack(writes: GroupWrites, rules: WaitRules, added: readonly LookingBack[]): Promise<void> {
  const waiting = added.filter(({ wait }) => wait.kind === "event");
  if (waiting.length === 0) return;
  const came = new Map<string, Omit<Came, "allocation">[]>();
  for (const name of new Set(waiting.map(({ wait }) => wait.eventName))) {
    const since = Math.min(...waiting.filter(({ wait }) => wait.eventName === name).map(({ wait }) => wait.since));
    const rows = await writes.rows<EventRow>(
      `${EVENTS_SINCE} ORDER BY received_at, sequence`,
      writes.environmentId,
      toStoreText(name),
      since,
    );
    came.set(
      name,
      rows.map(toStoredEvent).map((event) => ({ event, sequence: event.sequence, receivedAt: event.receivedAt })),
    );
  }
  if ([...came.values()].every((events) => events.length === 0)) return;
  const starts = await runStarts(
    writes,
    waiting.map(({ runNo }) => runNo),
    { withEvents: true },
  );
  const found = waiting.flatMap(({ wait, runNo, allocation }): Arrival[] => {
    const first = came.get(wait.eventName)?.find((one) => isEnded(wait, { ...one, allocation }, starts.get(runNo), rules));
    return first && wait.stepId !== null
      ? [{ allocation, runNo, stepId: wait.stepId, eventSequence: first.sequence, endedRunNo: null }]
      : [];
  });
  dropWaits(writes, await resumeBy(writes, found));
}
