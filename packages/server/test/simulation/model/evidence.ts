/** What the checks of one played scenario share: runs by what started them, functions by id, faults that met a run. */

import { createHash } from "node:crypto";
import type { RunDetails, StoredEvent } from "../../../src/store/contract/index.ts";
import { ERASED_DATA } from "../../../src/store/erasure/policy.ts";
import { FAILURE_CODE, LATER_CODE, LATER_SUFFIX } from "../apps/own-app.ts";
import type { CallNote, RerunNote } from "../journal-notes.ts";
import { type Code, fullId, type SimFunction } from "../scenario.ts";
import type { Played } from "../world.ts";

export const FAILURE_SUFFIX = "-failure";

const JUMBLE_MS = 300;
/** A busy machine may take its time between admitting a run and calling its app. */
const REAL_MS = 5_000;
const OUTAGE_MS = 60_000;

export interface EventData {
  k: number;
  n: number;
}

interface Deferred {
  _inngest?: { parent_run_id?: string };
}

export class Evidence {
  /** Without what was erased. */
  readonly played: Played;
  readonly #erasedRuns: ReadonlySet<string>;
  readonly #elsewhere: ReadonlySet<string>;
  readonly #functionOf: (run: RunDetails) => string;
  readonly #functions: ReadonlyMap<string, SimFunction>;
  readonly #events: ReadonlyMap<string, StoredEvent>;
  readonly #numbered: ReadonlyMap<number, StoredEvent>;
  readonly #runs: ReadonlyMap<string, RunDetails>;

  /** By id: those without their data. */
  readonly #erased: ReadonlyMap<string, StoredEvent>;

  constructor(whole: Played) {
    const isErased = ({ data }: StoredEvent) => data === ERASED_DATA;
    this.#erased = new Map(whole.events.filter(isErased).map((event) => [event.id, event]));
    this.#erasedRuns = new Set(whole.runs.filter(({ event }) => event && this.#erased.has(event.id)).map(({ id }) => id));
    const played = {
      ...whole,
      events: whole.events.filter((event) => !isErased(event)),
      runs: whole.runs.filter(({ id }) => !this.#erasedRuns.has(id)),
    };
    this.played = played;
    this.#elsewhere = new Set(whole.branch?.runs.map(({ id }) => id));
    this.#functions = new Map(played.scenario.functions.map((fn) => [fullId(fn), fn]));
    this.#numbered = new Map(played.events.map((event) => [event.sequence, event]));
    this.#events = new Map(played.events.map((event) => [event.id, event]));
    this.#runs = new Map(played.runs.map((run) => [run.id, run]));
    this.#functionOf = ({ functionNo }) => played.functionIds.get(functionNo) ?? "";
  }

  functionId(run: RunDetails): string {
    return this.#functionOf(run);
  }

  /** Undefined for an onFailure, and for what a function defers. */
  functionOf(run: RunDetails): SimFunction | undefined {
    return this.#functions.get(this.#functionOf(run));
  }

  codeOf(run: RunDetails): Code {
    return this.functionOf(run)?.code ?? (this.functionId(run).endsWith(LATER_SUFFIX) ? LATER_CODE : FAILURE_CODE);
  }

  retriesOf(run: RunDetails): number {
    return this.functionOf(run)?.retries ?? 1;
  }

  runWithId(id: string): RunDetails | undefined {
    return this.#runs.get(id);
  }

  /** It is a run of the other environment. */
  isElsewhere(id: string): boolean {
    return this.#elsewhere.has(id);
  }

  isErasedRun(id: string): boolean {
    return this.#erasedRuns.has(id);
  }

  erasedEvent(id: string): StoredEvent | undefined {
    return this.#erased.get(id);
  }

  eventWithId(id: string): StoredEvent | undefined {
    return this.#events.get(id);
  }

  runsOf(functionId: string): RunDetails[] {
    return this.played.runs.filter((run) => this.#functionOf(run) === functionId);
  }

  /** What the run deferred. */
  deferredBy({ id }: RunDetails): RunDetails[] {
    const isOf = (run: RunDetails) => (JSON.parse(this.eventOf(run)?.data ?? "{}") as Deferred)._inngest?.parent_run_id === id;
    return this.played.runs.filter((run) => this.functionId(run).endsWith(LATER_SUFFIX) && run.originalRunId === null && isOf(run));
  }

  /** How somebody asked for this run; undefined if it is no rerun, or one of a job. Which of several requests it was may not be known. */
  rerunOf({ id, originalRunId, jobId }: RunDetails): RerunNote | undefined {
    if (originalRunId === null || jobId !== null) return undefined;
    const { reruns } = this.played.journal;
    const rootOf = ({ sourceId }: RerunNote) => this.runWithId(sourceId)?.originalRunId ?? sourceId;
    return reruns.find(({ newId }) => newId === id) ?? reruns.find((note) => note.newId === null && rootOf(note) === originalRunId);
  }

  /** Whether a run was given this step's result when it was created. */
  isGiven(run: RunDetails, { id, startedAt, endedAt }: RunDetails["steps"][number]): boolean {
    if (run.originalRunId === null || run.jobId !== null || endedAt === null || endedAt > run.createdAt) return false;
    const source = this.runWithId(this.rerunOf(run)?.sourceId ?? "");
    return source?.steps.some((step) => step.id === id && step.startedAt === startedAt && step.endedAt === endedAt) ?? false;
  }

  /** Whether a run or its event may have been removed by then. */
  isGone({ id, eventSequence }: RunDetails, by: number | null): boolean {
    const { removedRuns, removedEvents } = this.played.journal;
    const notes = [removedRuns.get(id), removedEvents.get(eventSequence)];
    return notes.some((note) => note !== undefined && note.since <= (by ?? Number.POSITIVE_INFINITY));
  }

  eventOf(run: RunDetails): StoredEvent | undefined {
    return this.#numbered.get(run.eventSequence) ?? (run.event ? this.#events.get(run.event.id) : undefined);
  }

  dataOf(run: RunDetails): EventData {
    return dataOf(this.eventOf(run));
  }

  callsOf(run: RunDetails): readonly CallNote[] {
    return this.played.journal.callsOf.get(run.id) ?? [];
  }

  /** Whether an event was acknowledged before the store was asked to end the step. In virtual time, storing takes none. */
  couldSee(run: RunDetails, stepId: string, event: StoredEvent): boolean {
    const { scenario, journal } = this.played;
    const endAskedAt = journal.stepEndAskedAt.get(`${run.id}/${stepId}`) ?? 0;
    // A wait may be stored long after it began, when the response that asks for it was lost: by then, retention may have removed the event.
    if ((journal.removedEvents.get(event.sequence)?.since ?? Number.POSITIVE_INFINITY) <= endAskedAt) return false;
    if (!scenario.isRealTime) return true;
    return this.#acknowledgedAt(event) < endAskedAt;
  }

  /** When the store acknowledged it. An event that is sent again with its id after retention has removed the first is another one. */
  #acknowledgedAt({ id, receivedAt }: StoredEvent): number {
    const { storedAt, storedLastAt } = this.played.journal;
    const times = [storedAt.get(id), storedLastAt.get(id)];
    return times.find((at) => at !== undefined && at >= receivedAt) ?? Number.POSITIVE_INFINITY;
  }

  /** Whether the event may have been stored after this time. In virtual time, storing takes none. */
  isStoredAfter(event: StoredEvent, at: number): boolean {
    return (this.played.scenario.isRealTime ? this.#acknowledgedAt(event) : event.receivedAt) >= at;
  }

  /**
   * When the run was known to be stored. In virtual time, storing takes none; over a network, an event that comes meanwhile may be first.
   * What is called is stored. A run that its event starts is stored with it, unless there are rules about the starts of its function.
   */
  storedBy(run: RunDetails): number {
    const { scenario } = this.played;
    const event = this.eventOf(run);
    if (run.originalRunId !== null && run.jobId === null) return this.rerunOf(run)?.doneAt ?? Number.POSITIVE_INFINITY;
    if (!scenario.isRealTime) return run.createdAt;
    const calledAt = this.callsOf(run)[0]?.sentAt ?? Number.POSITIVE_INFINITY;
    const { rateLimit, debounce, batchEvents, singleton } = this.functionOf(run)?.flow ?? {};
    const isLimited = this.played.journal.functionLimits.some(
      ({ functionId, rule }) => rule === "rateLimit" && functionId === this.functionId(run),
    );
    const hasRule = isLimited || [rateLimit, debounce, batchEvents, singleton].some((rule) => rule !== undefined);
    const isStartedLater = run.jobId !== null || hasRule;
    return Math.min(calledAt, event && !isStartedLater ? this.#acknowledgedAt(event) : Number.POSITIVE_INFINITY);
  }

  /** While timers are jumbled, time passes between a decision and what follows from it. */
  get jumbleMs(): number {
    const { isRealTime, jumble } = this.played.scenario;
    if (isRealTime) return REAL_MS;
    return jumble > 0 ? JUMBLE_MS : 1;
  }

  /** How long it takes until a change that one node has made holds on the others. */
  get tellingMs(): number {
    return this.played.journal.tellingMs;
  }

  /** How long what follows from an event may take. What was down or refused has to come back first. */
  get slackMs(): number {
    const { outages, refusals, isRealTime } = this.played.scenario;
    return isRealTime || outages.length + refusals.length > 0 ? OUTAGE_MS : this.jumbleMs + 1;
  }

  describe(run: RunDetails): string {
    const { n } = this.dataOf(run);
    return `run ${run.id} of ${this.functionId(run)} for event ${n}`;
  }
}

export function dataOf(event: StoredEvent | undefined): EventData {
  const { k = 0, n = 0 } = (event ? JSON.parse(event.data) : {}) as Partial<EventData>;
  return { k, n };
}

const hashes = new Map<string, string>();

/** The id under which the store keeps a step. */
export function hashOf(name: string): string {
  let hash = hashes.get(name);
  if (hash === undefined) {
    hash = createHash("sha1").update(name).digest("hex");
    hashes.set(name, hash);
  }
  return hash;
}

export function durationMs(text: string | undefined): number | null {
  const match = /^(\d+)(ms|s|m)$/.exec(text ?? "");
  return match ? Number(match[1]) * { ms: 1, s: 1_000, m: 60_000 }[match[2] as "ms" | "s" | "m"] : null;
}
