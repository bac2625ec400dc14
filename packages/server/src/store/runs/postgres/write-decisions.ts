/**
 * The write path of decisions: responses of apps, timers and starts of functions, with their results. One transaction per group of
 * units: their rows are locked and read together, the units are decided one after the other, and the results are written together.
 */

import type { RunId, RunNo } from "@inlet/protocol";
import type { EventBatch, WaitRules } from "../../contract/index.ts";
import type { KeyHash } from "../../dedup-keys/policy.ts";
import { appendEvents } from "../../events/postgres/append-events.ts";
import type { InternedIds } from "../../events/postgres/interned-ids.ts";
import { keepEvents } from "../../events/postgres/keep-events.ts";
import { Marks } from "../../function-starts/postgres/marks.ts";
import { startFunction } from "../../function-starts/postgres/start-function.ts";
import { flushWrites } from "../../postgres/flush-writes.ts";
import type { Attempt, WriteGroup } from "../../postgres/group-commit.ts";
import { LockSet, nameLock } from "../../postgres/locks.ts";
import { type Notices, PendingWrites } from "../../postgres/pending-writes.ts";
import { LeaseAllocation } from "../../queue/policy/lease-allocation.ts";
import { makeDue } from "../../queue/postgres/queue-entries.ts";
import { type LookingBack, lookBack } from "../../waits/postgres/look-back.ts";
import { cancelRuns, resumeRuns } from "../../waits/postgres/resume-runs.ts";
import { advanceRun } from "./advance-run.ts";
import { type AdvanceOutcome, decideAdvances } from "./decide-advances.ts";
import type { Consequences, Decision, DecisionResult } from "./decisions.ts";
import { lockRunStates } from "./run-state.ts";
import { startRunForStored } from "./start-runs.ts";
import { takeRunNumbers } from "./take-run-numbers.ts";

export interface WriteDecisionsParts {
  interned: InternedIds;
  keyHash: KeyHash;
  rules: WaitRules;
  notify(notices: Notices): void;
}

/** Null: the unit is left to a later group. */
type Decided = Omit<DecisionResult, "leased"> | null;
type Unit = Attempt<Decision> & { allocation: LeaseAllocation };

export function createWriteDecisions({ interned, keyHash, rules, notify }: WriteDecisionsParts): WriteGroup<Decision, DecisionResult> {
  return async (client, environmentId, attempts) => {
    const writes = new PendingWrites(client, environmentId);
    const units = attempts.map((attempt): Unit => {
      const { now, lease } = attempt.work.params;
      return { ...attempt, allocation: new LeaseAllocation(now, lease) };
    });
    const consequences: Consequences = { appendings: [], arrivals: [], cancelled: [] };
    const decided = await decide(writes, units, consequences);
    const looking = looksBack(writes, units);
    const batches = consequences.appendings.map(({ batch }) => batch);
    const numbers = await interned.numbersFor(writes.read, batches);
    lockNames(writes, looking, batches);
    const { awaited } = await appendEvents(writes, { numbers, keyHash }, consequences.appendings);
    await flushWrites(writes);
    await lookBack(writes, rules, looking);
    await resumeRuns(writes, rules, awaited);
    await makeDue(writes, consequences.arrivals);
    await cancelRuns(writes, consequences.cancelled);
    await writes.settle();
    return {
      results: decided.map((result, index) => result && { ...result, leased: units[index]?.allocation.leased ?? [] }),
      onCommit: () => notify(writes.notices),
    };
  };
}

/** One after the other: a unit sees how the previous ones changed the marks they share. */
async function decide(writes: PendingWrites, units: readonly Unit[], consequences: Consequences): Promise<Decided[]> {
  const starts = units.flatMap(({ work }) => (work.kind === "start function" ? [work.params] : []));
  const advances = units.flatMap(({ work }) => (work.kind === "advance" ? [work.params] : []));
  const sequences = units.flatMap(({ work }) => (work.kind === "start run" ? [work.params.eventSequence] : []));
  const stored = await keepEvents(writes, sequences);
  Marks.lock(writes, starts);
  const held = [...starts, ...advances].flatMap(({ entry }) => entry?.no ?? []);
  const states = await lockRunStates(
    writes,
    advances.map(({ runNo }) => runNo),
    held,
  );
  const marks = await Marks.read(writes, starts);
  const starting = units.filter(({ work }) => work.kind !== "advance").length;
  const numbers = starting > 0 ? await takeRunNumbers(writes, starting) : [];
  const present = await presentRuns(writes, units);
  const outcomes = await decideAdvances(writes, states, advances);
  const results: Decided[] = [];
  for (const { work, allocation } of units) {
    if (work.kind === "advance") {
      results.push(applyAdvance(writes, allocation, outcomes.get(work.params.runNo) ?? "unchanged", consequences));
    } else if (work.kind === "start run") {
      const { run, eventSequence } = work.params;
      const isStarted = present.has(run.id) || stored.has(eventSequence);
      if (isStarted && !present.has(run.id)) startRunForStored(writes, allocation, numbers.pop() as RunNo, eventSequence, run);
      results.push({ applied: isStarted, refused: undefined });
    } else results.push(await startFunction(writes, { allocation, marks, consequences, runNo: numbers.pop() as RunNo }, work.params));
  }
  marks.write(writes);
  return results;
}

function applyAdvance(writes: PendingWrites, allocation: LeaseAllocation, outcome: AdvanceOutcome, consequences: Consequences): Decided {
  if (outcome === "left") return null;
  if (outcome === "unchanged") return { applied: false, refused: undefined };
  const { events, arrivals } = advanceRun(writes, allocation, outcome);
  for (const batch of events) consequences.appendings.push({ batch, allocation, mayBeWritten: false });
  consequences.arrivals.push(...arrivals);
  return { applied: true, refused: undefined };
}

/** Runs that an earlier attempt started. */
async function presentRuns(writes: PendingWrites, units: readonly Unit[]): Promise<Set<RunId>> {
  const ids = units.flatMap(({ work, mayBeWritten }) => (work.kind === "start run" && mayBeWritten ? [work.params.run.id] : []));
  if (ids.length === 0) return new Set();
  const text = "SELECT run_id FROM runs WHERE environment_id = $1 AND run_id = ANY ($2::text[])";
  return new Set((await writes.rows<{ run_id: RunId }>(text, writes.environmentId, ids)).map(({ run_id }) => run_id));
}

/** Waits of steps. Waits that cancel a run are written with the run. */
function looksBack(writes: PendingWrites, units: readonly Unit[]): LookingBack[] {
  const byRun = new Map(
    units.flatMap(({ work, allocation }) => (work.kind === "advance" ? [[work.params.runNo, allocation] as const] : [])),
  );
  return writes.waitsAdded.flatMap(({ runNo, wait }) => {
    const allocation = byRun.get(runNo);
    return allocation && wait.kind === "event" ? [{ allocation, runNo, wait }] : [];
  });
}

function lockNames(writes: PendingWrites, looking: readonly LookingBack[], batches: readonly EventBatch[]): void {
  const { environmentId } = writes;
  const locks = new LockSet();
  const waited = new Set(looking.map(({ wait }) => wait.eventName));
  const sent = new Set(batches.flatMap(({ events }) => events.map(({ name }) => name)));
  for (const name of waited) locks.add(nameLock(environmentId, name), "alone");
  for (const name of sent) locks.add(nameLock(environmentId, name), "shared");
  // An approval of the signal, or its decision, is written before or after the wait: neither misses the other.
  for (const { wait } of writes.signalsAdded) locks.add(nameLock(environmentId, wait.eventName), "alone");
  locks.send(writes);
}
