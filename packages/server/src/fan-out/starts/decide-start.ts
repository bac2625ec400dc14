/**
 * Whether and when a function with rules about its starts is started for an event: a pure function of the stored state of the rules.
 *
 *   rate limit ── too many ──▶ dropped          debounce, batch ──▶ collected, started when due or full
 *        │                                            │
 *        └──────────▶ singleton ── one is active ──▶ dropped, or the other is cancelled
 *                         │
 *                      started: if it is throttled, the run waits in its gate (lanes.ts)
 *
 * A key that is null, false or without a value for an event limits nothing: rate limit and singleton then do not apply. Debounce and batch
 * do: events without a key are collected together.
 *
 * A function that another one invokes is started for that one alone: the event is not collected, and if no run is started, the invoker is
 * told why.
 */

import type { RunNo } from "@inlet/protocol";
import type {
  FunctionStartChange,
  FunctionStartState,
  Invoker,
  MarkKey,
  MarkWrite,
  NewRun,
  StoredEvent,
} from "../../store/contract/index.ts";
import { compileExpression, type EventValue, isFault } from "../expressions.ts";
import type { FunctionConfig } from "../function-config.ts";
import { rateCheck, rateForgetAt, rateLimitRate, recallUse, rememberUse } from "../gcra.ts";
import { type KeyHash, keyHashed, limitsNothing } from "../lanes.ts";

/** What is collected for one key. */
interface Gathering {
  /** Of events, ascending: nodes may decide about them in another order than they were stored in. */
  sequences: number[];
  bytes: number;
  ts: number;
  dueAt: number;
  /** A debounce ends by then, whatever arrives. */
  deadline: number | null;
}

const BATCH_BYTES_MAX = 10 * 1024 * 1024;
const KEEP_MS = 30 * 86_400_000;

export interface StartFacts {
  config: FunctionConfig;
  event: StoredEvent;
  value: EventValue;
  now: number;
  /** The step that invoked the function, if one did. */
  invoker: Invoker | null;
  newRun(event: StoredEvent, dueAt: number): NewRun;
}

/** The marks whose values decideStart and decideGathered receive, in this order. */
export function marksOf({ rateLimit, debounce, batch, singleton }: FunctionConfig, value: EventValue, hash: KeyHash): MarkKey[] {
  const hashed = (key: string | null) => (key === null ? "" : keyHashed(key, value, hash));
  return [
    { kind: "rate", key: hashed(rateLimit?.key ?? null) },
    { kind: "debounce", key: hashed(debounce?.key ?? null) },
    { kind: "batch", key: hashed(batch?.key ?? null) },
    { kind: "singleton", key: hashed(singleton?.key ?? null) },
  ];
}

const [RATE, DEBOUNCE, BATCH, SINGLETON] = [0, 1, 2, 3] as const;

/** An event requests a start. */
export function decideStart(keys: readonly MarkKey[], state: FunctionStartState, facts: StartFacts): FunctionStartChange {
  const { config, value, now } = facts;
  const marks: MarkWrite[] = [];
  // Many events of a batch are one run: they do not count against the rate limit of runs.
  if (config.rateLimit && !config.batch && !limitsNothing(config.rateLimit.key, keys[RATE]?.key)) {
    const rate = rateLimitRate(config.rateLimit);
    const outcome = rateCheck(recallUse(state.marks[RATE] ?? null, rate), now, rate);
    if (!outcome.allowed) return notStarted(facts, "it has been started as often as its rate limit allows");
    const { use } = outcome;
    marks.push({ ...(keys[RATE] as MarkKey), value: rememberUse(use), expiresAt: rateForgetAt(use, rate) });
  }
  if (config.debounce && !facts.invoker) return withMarks(marks, debounced(keys, state, facts));
  if (config.batch && !facts.invoker && mayBatch(config.batch.if, value)) return withMarks(marks, batched(keys, state, facts));
  return withMarks(marks, begin(keys, state, facts, [facts.event]));
}

export type GatheringKind = "debounce" | "batch";

const INDEX_OF: Readonly<Record<GatheringKind, number>> = { debounce: DEBOUNCE, batch: BATCH };

/**
 * A batch or debounce is due. `facts.event` is its first event, which was looked up before the transaction: if that has changed, or
 * the time was moved, the entry is due again.
 */
export function decideGathered(
  kind: GatheringKind,
  keys: readonly MarkKey[],
  state: FunctionStartState,
  facts: StartFacts,
): FunctionStartChange {
  const key = keys[INDEX_OF[kind]] as MarkKey;
  const gathering = gatheringIn(state.marks[INDEX_OF[kind]]);
  if (!gathering) return {};
  const isAsSeen = gathering.sequences[0] === facts.event.sequence;
  if (!isAsSeen || gathering.dueAt > facts.now) return gatherAgain(key, gathering);
  return withMarks([forgotten(key)], begin(keys, state, facts, state.events(gathering.sequences)));
}

/** The batch or debounce, or its events, no longer existed when it was looked up. Unless a new one has begun, nothing is left to do. */
export function decideLostGathering(key: MarkKey, state: FunctionStartState): FunctionStartChange {
  const gathering = gatheringIn(state.marks[0]);
  if (!gathering) return {};
  const isGone = state.events(gathering.sequences.slice(0, 1)).length === 0;
  return isGone ? { marks: [forgotten(key)] } : gatherAgain(key, gathering);
}

/** The function no longer exists: what was collected for it starts nothing, and if it comes back, it begins anew. */
export function dropGathering(key: MarkKey): FunctionStartChange {
  return { marks: [forgotten(key)] };
}

function gatherAgain(key: MarkKey, { sequences, dueAt }: Gathering): FunctionStartChange {
  return { gather: { key: subjectOf(key), dueAt, since: sequences[0] as number } };
}

/** The first of the collected events, from a mark's value. */
export function firstGathered(markValue: string | null): number | null {
  return gatheringIn(markValue)?.sequences[0] ?? null;
}

/** What is left of a gathering without these events, as a mark's value; null: nothing. */
export function gatheringWithout(markValue: string, sequences: ReadonlySet<number>): string | null {
  const gathering = JSON.parse(markValue) as Gathering;
  const left = gathering.sequences.filter((sequence) => !sequences.has(sequence));
  return left.length === 0 ? null : JSON.stringify({ ...gathering, sequences: left });
}

function debounced(keys: readonly MarkKey[], state: FunctionStartState, { config, event, now }: StartFacts): FunctionStartChange {
  const { periodMs, timeoutMs } = config.debounce as NonNullable<FunctionConfig["debounce"]>;
  const before = gatheringIn(state.marks[DEBOUNCE]);
  const isNewer = !before || event.ts > before.ts || (event.ts === before.ts && event.sequence > (before.sequences[0] as number));
  const deadline = before ? before.deadline : timeoutMs === null ? null : now + timeoutMs;
  const dueAt = Math.min(now + periodMs, deadline ?? Number.POSITIVE_INFINITY);
  const kept: Gathering = {
    sequences: isNewer ? [event.sequence] : before.sequences,
    bytes: 0,
    ts: isNewer ? event.ts : before.ts,
    dueAt,
    deadline,
  };
  const key = keys[DEBOUNCE] as MarkKey;
  return { marks: [gatheringMark(key, kept, now)], ...gatherAgain(key, kept) };
}

function batched(keys: readonly MarkKey[], state: FunctionStartState, facts: StartFacts): FunctionStartChange {
  const { config, event, now } = facts;
  const { timeoutMs } = config.batch as NonNullable<FunctionConfig["batch"]>;
  const key = keys[BATCH] as MarkKey;
  const { before, sequences, bytes, isFull } = batchWith(state.marks, facts);
  if (isFull) return withMarks([forgotten(key)], begin(keys, state, facts, state.events(sequences)));
  const dueAt = before?.dueAt ?? now + timeoutMs;
  const marks = [gatheringMark(key, { sequences, bytes, ts: event.ts, dueAt, deadline: null }, now)];
  // The entry names the first event, from which on events are retained.
  const isFirst = sequences[0] === event.sequence;
  return isFirst ? { marks, gather: { key: subjectOf(key), dueAt, since: event.sequence } } : { marks };
}

/** The batch including the event. */
function batchWith(marks: FunctionStartState["marks"], { config, event }: StartFacts) {
  const before = gatheringIn(marks[BATCH]);
  const sequences = [...(before?.sequences ?? []), event.sequence].sort((one, other) => one - other);
  const bytes = (before?.bytes ?? 0) + event.data.length;
  const isFull = sequences.length >= (config.batch?.maxSize ?? 0) || bytes >= BATCH_BYTES_MAX;
  return { before, sequences, bytes, isFull };
}

/** The events that decideStart needs: those of a batch that the event completes. */
export function eventsToStart(marks: FunctionStartState["marks"], facts: StartFacts): readonly number[] {
  if (!facts.config.batch) return [];
  const { isFull, sequences } = batchWith(marks, facts);
  return isFull ? sequences : [];
}

/** The events that decideGathered needs; decideLostGathering needs the first of them. */
export function eventsGathered(markValue: string | null | undefined): readonly number[] {
  return gatheringIn(markValue)?.sequences ?? [];
}

/** Starts a run, unless another one of its key is active, now or when it is admitted. */
function begin(
  keys: readonly MarkKey[],
  state: FunctionStartState,
  facts: StartFacts,
  events: readonly StoredEvent[],
): FunctionStartChange {
  const { config, now, newRun } = facts;
  const event = events[0] as StoredEvent;
  const isSingle = config.singleton !== null && !limitsNothing(config.singleton.key, keys[SINGLETON]?.key);
  const active = isSingle ? Number(state.marks[SINGLETON] ?? 0) : 0;
  const isTaken = active > 0 && state.isActive(active as RunNo);
  if (isTaken && config.singleton?.mode === "skip") return notStarted(facts, "another run of it is active, and it allows only one");
  const run = { ...newRun(event, now), ...(facts.invoker && { invoker: facts.invoker }) };
  return {
    run: { event, run: events.length > 1 ? { ...run, eventSequences: events.map(({ sequence }) => sequence) } : run },
    ...(isSingle && { holdMark: keys[SINGLETON] as MarkKey }),
    ...(isTaken && { cancels: [active as RunNo] }),
  };
}

/** Dropped silently, unless an invoker waits for it. */
export function notStarted({ invoker }: Pick<StartFacts, "invoker">, why: string): FunctionStartChange {
  if (!invoker) return {};
  return { refused: { invoker, error: { name: "InvocationRefused", message: `The function was not started: ${why}.` } } };
}

function withMarks(marks: readonly MarkWrite[], change: FunctionStartChange): FunctionStartChange {
  return { ...change, marks: [...marks, ...(change.marks ?? [])] };
}

function forgotten(key: MarkKey): MarkWrite {
  return { ...key, value: null, expiresAt: 0 };
}

function gatheringMark(key: MarkKey, gathering: Gathering, now: number): MarkWrite {
  return { ...key, value: JSON.stringify(gathering), expiresAt: now + KEEP_MS };
}

function gatheringIn(text: string | null | undefined): Gathering | null {
  return text ? (JSON.parse(text) as Gathering) : null;
}

/** Identifies the entry that ends a batch or debounce. */
export function subjectOf({ kind, key }: MarkKey): string {
  return `${kind}:${key}`;
}

export function gatheringNamed(subject: string): MarkKey & { kind: GatheringKind } {
  const colon = subject.indexOf(":");
  return { kind: subject.slice(0, colon) as GatheringKind, key: subject.slice(colon + 1) };
}

/** An event for which the condition is false starts a run of its own. */
function mayBatch(expression: string | null, event: EventValue): boolean {
  if (expression === null) return true;
  const compiled = compileExpression(expression);
  return !isFault(compiled) && compiled.matches({ event }) === true;
}
