/**
 * Plans the rows to write for a change of a run: a pure function of the state that was read and the decision. Both engines
 * read the state, call this, and write what it returns, in one transaction.
 *
 * For every change:
 * - A step that has ended is never written again, and a second result for it is ignored.
 * - There is one entry per step and kind. A discovery in progress is asked to repeat; any other existing entry stays as it is.
 * - The processed entry is done, repeated, retried or kept, as the change says.
 * - The end of a run removes the secrets of its open requests.
 * - The end of a run removes its entries, waits and slots, except for calls in progress: these keep their slots until the node that
 *   makes them removes their entries.
 */

import { type EntryNo, type EventId, type RunNo, type StepId, shownRequest } from "@inlet/protocol";
import type {
  EntryRecord,
  Invoker,
  NewApproval,
  NewEntry,
  NewWait,
  RunChange,
  RunEnd,
  RunRecord,
  RunState,
  RunStatus,
  StepWrite,
} from "../../contract/index.ts";
import type { EntryPosition, EntryWrite, LeaseAllocation } from "../../queue/policy/lease-allocation.ts";

export interface RunWrites {
  runNo: RunNo;
  run: RunColumns;
  steps: StepRowWrite[];
  /** Entries that are reset, or moved to a later time. */
  entriesRenewed: { no: EntryNo; write: EntryWrite; position: EntryPosition }[];
  entriesAdded: { write: EntryWrite; position: EntryPosition }[];
  entriesRemoved: EntryNo[];
  /** Discoveries in progress that are to be repeated. */
  entriesAgain: EntryNo[];
  /** The attempt count of the discovery is reset. */
  entriesReset: EntryNo[];
  /** Entries that are released: their slots are free. */
  slotsFreed: EntryNo[];
  waitsAdded: readonly NewWait[];
  /** Questions that its steps ask. Written before the waits. */
  approvalsAdded: readonly NewApproval[];
  /** Steps that no longer wait. */
  waitsRemoved: readonly StepId[];
  /** Removes all its waits, and the slots that the run itself holds. */
  isEnd: boolean;
  /** The run has ended, and may leave approvals that nobody waits for. */
  endsApprovals: boolean;
  /** What happens to its position in the order of its function's runs; null: it has none, or has not ended. */
  order: "leaving" | "held" | null;
  /** The step that waits for the ended run: its entry is due. */
  resumed: Invoker | null;
}

export interface RunColumns {
  status: RunStatus;
  startedAt: number | null;
  endedAt: number | null;
  requestVersion: number;
  isParallel: boolean;
  stateBytes: number;
  output: string | null;
  error: RunEnd["error"];
  cancelledBy: EventId | null;
}

export interface StepRowWrite extends StepWrite {
  position: number;
  /** Its position in the order in which steps ended; null while it is open. */
  donePosition: number | null;
}

/** A state without its events. */
type ReadState = Omit<RunState, "events">;

/** `entry` is the processed one; null if the change has another cause. */
export function planRunWrites(state: ReadState, entry: EntryRecord | null, change: RunChange, allocation: LeaseAllocation): RunWrites {
  const { run } = state;
  if (change.decidedAt !== undefined) allocation.moveTo(change.decidedAt);
  const { steps, stateBytes } = planSteps(state, change.steps ?? []);
  const { status = run.status, startedAt = run.startedAt, requestVersion = run.requestVersion, isParallel = run.isParallel, end } = change;
  const kept = { startedAt, requestVersion, isParallel, stateBytes };
  if (end) {
    const ended = { status: end.status, endedAt: end.endedAt, output: end.output, error: end.error, cancelledBy: end.cancelledBy ?? null };
    const isUnderWay = ({ no, kind, leaseId }: EntryRecord) => kind === "call" && leaseId !== null && no !== entry?.no;
    const entriesRemoved = state.entries.filter((other) => !isUnderWay(other)).map(({ no }) => no);
    const order = run.orderKey === null ? null : change.holdsOrder ? ("held" as const) : ("leaving" as const);
    const last = { entriesRemoved, slotsFreed: entry ? [entry.no] : [], isEnd: true, order, resumed: run.invoker };
    const endsApprovals = [...state.steps, ...steps].some(({ kind }) => APPROVED_KINDS.has(kind));
    return {
      ...nothing(run.no),
      run: { ...kept, ...ended },
      steps: [...settleOpen(steps, end), ...settleOpen(openOthers(state, steps), end)],
      ...last,
      endsApprovals,
    };
  }
  return {
    ...nothing(run.no),
    run: { ...kept, status, endedAt: null, output: null, error: null, cancelledBy: null },
    steps,
    ...planEntries(state, entry, change, allocation),
    waitsAdded: change.waits ?? [],
    approvalsAdded: change.approvals ?? [],
    waitsRemoved: change.settled ?? [],
  };
}

function nothing(runNo: RunNo): Omit<RunWrites, "run" | "steps"> {
  return {
    runNo,
    entriesRenewed: [],
    entriesAdded: [],
    entriesRemoved: [],
    entriesAgain: [],
    entriesReset: [],
    slotsFreed: [],
    waitsAdded: [],
    approvalsAdded: [],
    waitsRemoved: [],
    isEnd: false,
    endsApprovals: false,
    order: null,
    resumed: null,
  };
}

function planSteps({ run, steps }: ReadState, writes: readonly StepWrite[]): { steps: StepRowWrite[]; stateBytes: number } {
  let found = steps.length;
  let done = steps.filter(({ endedAt }) => endedAt !== null).length;
  let stateBytes = run.stateBytes;
  const known = new Map(steps.map((step) => [step.id, step]));
  const planned = writes.flatMap((write): StepRowWrite[] => {
    const before = known.get(write.id);
    if (before && before.endedAt !== null) return [];
    const isDone = write.value !== undefined;
    const position = before?.position ?? found++;
    stateBytes += write.value?.length ?? 0;
    const step = { ...write, position, donePosition: isDone ? done++ : null };
    known.set(write.id, step);
    return [step];
  });
  return { steps: planned, stateBytes };
}

/** Open steps that the end of the run changes and that the change itself does not write. */
function openOthers({ steps }: ReadState, written: readonly StepRowWrite[]): StepRowWrite[] {
  return steps.filter(({ id, kind, endedAt }) => endedAt === null && ENDING_KINDS.has(kind) && !written.some((other) => other.id === id));
}

/** Steps that approvals answer. */
const APPROVED_KINDS: ReadonlySet<string> = new Set(["approval", "signal"]);

const ENDING_KINDS: ReadonlySet<string> = new Set(["fetch", "infer", "defer"]);

/** No secrets are kept of a request that is never made, or whose response is ignored. Deferred functions are started now. */
function settleOpen(steps: readonly StepRowWrite[], { endedAt }: RunEnd): StepRowWrite[] {
  return steps.map((step) => {
    if (step.endedAt !== null || step.detail === null) return step;
    if (step.kind === "defer") return { ...step, status: "completed", endedAt };
    return step.kind === "fetch" || step.kind === "infer" ? { ...step, detail: JSON.stringify(shownRequest(step.detail)) } : step;
  });
}

type EntryWrites = Pick<RunWrites, "entriesRenewed" | "entriesAdded" | "entriesRemoved" | "entriesAgain" | "entriesReset" | "slotsFreed">;

function planEntries(state: ReadState, entry: EntryRecord | null, change: RunChange, allocation: LeaseAllocation): EntryWrites {
  const placed = { run: state.run, rank: (entry ?? state.entries[0])?.rank ?? state.run.createdAt };
  const settled = new Set(change.settled ?? []);
  const isSettled = ({ kind, stepId }: EntryRecord) => kind !== "call" && stepId !== null && settled.has(stepId);
  const added = [...(change.entries ?? [])];
  const next = entry && nextOf(entry, change, added);
  const present = state.entries.filter((other) => !isSettled(other) && (other.no !== entry?.no || next !== null || isKept(change)));
  const fresh: NewEntry[] = [];
  const again: EntryNo[] = [];
  for (const wanted of added) {
    const same = present.find((other) => isSame(other, wanted));
    if (same?.leaseId && same.stepId === null && same.no !== entry?.no) again.push(same.no);
    if (!same && !fresh.some((other) => isSame(other, wanted))) fresh.push(wanted);
  }
  const isDone = entry !== null && next === null && !isKept(change);
  return {
    entriesRenewed: next && entry ? [{ no: entry.no, ...positioned(placed, next, allocation) }] : [],
    entriesAdded: fresh.map((wanted) => positioned(placed, wanted, allocation)),
    entriesRemoved: [...state.entries.filter((other) => isSettled(other) && other.no !== entry?.no), ...(isDone ? [entry] : [])].map(
      ({ no }) => no,
    ),
    entriesAgain: again,
    entriesReset: change.entry === "reset-attempt" ? state.entries.filter(isDiscovery).map(({ no }) => no) : [],
    slotsFreed: entry && !isKept(change) ? [entry.no] : [],
  };
}

function isKept({ entry }: RunChange): boolean {
  return entry === "keep" || entry === "reset-attempt";
}

function isDiscovery({ kind, stepId }: EntryRecord): boolean {
  return kind === "call" && stepId === null;
}

function isSame(one: Pick<NewEntry, "stepId"> & { kind: string }, other: Pick<NewEntry, "stepId"> & { kind: string }): boolean {
  return one.kind === other.kind && one.stepId === other.stepId;
}

/** What happens next to the processed entry; null if it is done, or kept as it is. Removes what it covers from `added`. */
function nextOf(entry: EntryRecord, change: RunChange, added: NewEntry[]): NewEntry | null {
  if (isKept(change)) return null;
  if (typeof change.entry === "object") {
    return { kind: "call", stepId: entry.stepId, attempt: change.entry.attempt, dueAt: change.entry.retryAt };
  }
  const same = added.findIndex((wanted) => isSame(wanted, entry));
  if (same >= 0) return added.splice(same, 1)[0] as NewEntry;
  return entry.rediscovers ? { kind: "call", stepId: entry.stepId } : null;
}

interface PlacedRun {
  run: RunRecord;
  /** That of its first call: its age, moved by its priority, or behind live traffic if a job started it. */
  rank: number;
}

function positioned({ run, rank }: PlacedRun, { kind, stepId, attempt = 0, dueAt }: NewEntry, allocation: LeaseAllocation) {
  const { environmentId, lane, functionNo, no } = run;
  const write: EntryWrite = {
    environmentId,
    lane,
    functionNo,
    runNo: no,
    rank,
    dueAt: dueAt ?? allocation.now,
    kind,
    stepId,
    attempt,
    subject: null,
    eventSequence: null,
  };
  return { write, position: allocation.position(write) };
}
