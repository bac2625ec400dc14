/**
 * Ends the waits that events match. The run itself is not changed here: the entry of the waiting step becomes due and records the
 * event, and the node that claims it resumes the run. A run that the event cancels gets an entry for that.
 *
 * Neither an event nor a wait misses the other: an event holds the lock of its name shared while it looks for waits, and a step that
 * starts to wait holds it exclusively while it is stored and looks back for events (look-back.ts).
 */

import type { RunNo } from "@inlet/protocol";
import { type NewEvent, TIMER_LANE, WAITS_PER_EVENT_MAX, type WaitRules } from "../../contract/index.ts";
import type { Appended } from "../../events/postgres/append-events.ts";
import { boundedKey } from "../../postgres/bounded-key.ts";
import type { PendingWrites } from "../../postgres/pending-writes.ts";
import type { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { type Arrival, addEntries, makeDue } from "../../queue/postgres/queue-entries.ts";
import { addResumptions, pendingNames } from "../../resumptions/postgres/resumptions.ts";
import { groupBy, type RunStart, runStarts } from "../../runs/postgres/run-state.ts";
import { ResumptionPlan, type SeenEvent } from "../policy.ts";
import { ANY_PATH, type FoundWait } from "../rows.ts";
import { type Match, matchWaits } from "./match-waits.ts";
import { dropWaits, findWaits, lockWaits, type WaitKey, waitPaths } from "./waits.ts";

/** A stored event that runs may wait for. */
export interface ArrivedEvent extends SeenEvent {
  allocation: LeaseAllocation;
}

/** Called when these events have just been stored, in this order: those for whose names something waits. */
export async function resumeRuns(writes: PendingWrites, rules: WaitRules, stored: Appended["awaited"]): Promise<void> {
  if (stored.length === 0) return;
  const names = [...new Set(stored.map(({ event }) => event.name))];
  const [paths, pending] = await Promise.all([waitPaths(writes, names), pendingNames(writes, names)]);
  if (paths.size === 0) return;
  const arrived = stored.map(({ batch, event, sequence, allocation }) => ({
    event,
    sequence,
    receivedAt: batch.receivedAt,
    allocation,
    keys: waitKeysOf(event, paths, rules),
  }));
  const keys = new Map(arrived.flatMap((one) => one.keys.map((key) => [idOf(key), key] as const)));
  const found = await findWaits(writes, [...keys.values()], { after: 0, limit: WAITS_PER_EVENT_MAX + 1 });
  const byKey = groupBy(found, ({ eventName, kept }) => idOf(keyIn(eventName, kept)));
  const plan = new ResumptionPlan();
  const isDeferred = arrived.map(({ event: { name }, keys }) => {
    const waits = keys.reduce((sum, key) => sum + (byKey.get(idOf(key))?.length ?? 0), 0);
    return plan.isDeferred({ name, waits, isPending: pending.has(name) });
  });
  addResumptions(
    writes,
    arrived.filter((_, index) => isDeferred[index]),
  );
  const now = groupBy(
    arrived.filter((_, index) => !isDeferred[index]),
    ({ event }) => event.name,
  );
  const meetings = [...now.values()].map((seen) => {
    const ids = new Set(seen.flatMap((one) => one.keys.map(idOf)));
    return { waits: [...ids].flatMap((id) => byKey.get(id) ?? []), seen };
  });
  const { matches, starts } = await matchWaits<FoundWait, ArrivedEvent>(writes, rules, meetings);
  await endWaits(writes, matches, starts);
}

/** The keys under which waits for the event's name may be found. */
export function waitKeysOf(event: NewEvent, paths: ReadonlyMap<string, string[]>, rules: WaitRules): WaitKey[] {
  const { name } = event;
  return (paths.get(name) ?? []).flatMap((path) => {
    if (path === ANY_PATH) return [{ name, path, key: "" }];
    const key = rules.keyAt(event, path);
    return key === null ? [] : [{ name, path, key: boundedKey(key) }];
  });
}

function keyIn(eventName: string, kept: FoundWait["kept"]): WaitKey {
  return { name: eventName, path: kept?.path ?? ANY_PATH, key: kept?.key ?? "" };
}

function idOf({ name, path, key }: WaitKey): string {
  return JSON.stringify([name, path, key]);
}

/** Of several events that end one wait, the first is used. */
export async function endWaits(
  writes: PendingWrites,
  matches: readonly Match<FoundWait, ArrivedEvent>[],
  starts: ReadonlyMap<RunNo, RunStart>,
): Promise<void> {
  if (matches.length === 0) return;
  const open = await lockWaits(
    writes,
    matches.map(({ wait }) => wait.no),
  );
  const ending = matches.filter(({ wait }) => open.has(wait.no));
  const arrivals = ending.flatMap(({ wait: { kind, runNo, stepId }, seen: { allocation, sequence } }): Arrival[] =>
    kind === "event" && stepId !== null ? [{ allocation, runNo, stepId, eventSequence: sequence, endedRunNo: null }] : [],
  );
  await resumeBy(writes, arrivals);
  const cancelled = ending.filter(({ wait }) => wait.kind === "cancel");
  await cancelRuns(
    writes,
    cancelled.map(({ wait: { runNo }, seen: { allocation, sequence } }) => ({ runNo, allocation, eventSequence: sequence })),
    starts,
  );
}

/** The entries of these steps are due, and their waits are removed. */
export async function resumeBy(writes: PendingWrites, arrivals: readonly Arrival[]): Promise<void> {
  const resumed = await makeDue(writes, arrivals);
  for (const { eventSequence } of resumed) if (eventSequence !== null) writes.noteMatched(eventSequence);
  dropWaits(writes, resumed);
}

export interface Cancelling {
  allocation: LeaseAllocation;
  runNo: RunNo;
  eventSequence: number | null;
}

/** The node that claims the entry cancels the run. A run has at most one such entry. */
export async function cancelRuns(
  writes: PendingWrites,
  cancelled: readonly Cancelling[],
  known?: ReadonlyMap<RunNo, RunStart>,
): Promise<void> {
  if (cancelled.length === 0) return;
  const starts =
    known ??
    (await runStarts(
      writes,
      cancelled.map(({ runNo }) => runNo),
    ));
  const firsts = new Map(cancelled.toReversed().map((one) => [one.runNo, one]));
  const added = [...firsts.values()].flatMap(({ runNo, allocation, eventSequence }) => {
    const start = starts.get(runNo);
    if (!start) return [];
    const { now } = allocation;
    const write = {
      environmentId: writes.environmentId,
      functionNo: start.functionNo,
      runNo,
      rank: now,
      dueAt: now,
      lane: TIMER_LANE,
      kind: "cancel" as const,
      stepId: null,
      attempt: 0,
      subject: null,
      eventSequence,
    };
    return [{ allocation, write, position: allocation.position(write) }];
  });
  await addEntries(writes, added);
}
