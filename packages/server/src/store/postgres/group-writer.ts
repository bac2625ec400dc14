/**
 * One transaction for everything that waits, as in the embedded store, but in one round trip, and without holding a lock while
 * anything is decided: each unit reads, plans and is written only if what it read is still so. See migrations/002-write-groups.sql.
 *
 * What arrives while groups are under way gathers for the next. When a group fails and the fault is not the server's, each unit
 * is tried again alone, so that one bad unit cannot fail its neighbours.
 */

import type { EntryNo, EnvironmentId, RunNo } from "@inlet/protocol";
import { type EntryKey, StoreUnavailable } from "../contract/index.ts";
import type { Database } from "./database.ts";
import { Departures } from "./departures.ts";
import { isCollision, isOutcomeUnknown, serverFault } from "./failures.ts";
import type { KnownRun, KnownRuns } from "./known-runs.ts";
import { NotRead } from "./not-read.ts";
import type { NumberBlocks, Numbered } from "./number-blocks.ts";
import type { RunReads } from "./run-reads.ts";
import { Touched } from "./touched.ts";
import { UnitDraft } from "./unit-draft.ts";
import { UnitReads } from "./unit-reads.ts";
import type { Words } from "./words.ts";
import { type AnswerPlace, answerPlace, writeAnswers } from "./write-answers.ts";
import { type WrittenUnit, writeUnits } from "./write-units.ts";

const GROUP_ROWS_MAX = 2_000;
const REPLANS_MAX = 100;
const COLLISIONS_MAX = 10;
/** How long a unit whose answer was lost is written again before it is given up. */
const LOST_ANSWER_MS = 10_000;
const LOST_ANSWER_PAUSE_MS = 100;
const AS_PLANNED: WrittenUnit = { isStale: false, firsts: new Map(), sequences: [] };

/** Drafts a unit; returns what its caller is told once it is written. Called again whenever something has to be read first. */
export type Plan<Result> = (draft: UnitDraft) => (written: WrittenUnit, isWrittenAgain: boolean) => Result;

interface Unit {
  rows: number;
  /** The run it is about: units about one run are written one after the other. */
  runNo: RunNo | null;
  known(): KnownRun | null;
  plan: Plan<unknown>;
  draft: UnitDraft | null;
  /** Where it can be written the short way; null: it takes the long one. */
  answerPlace: AnswerPlace | null;
  tell: ReturnType<Plan<unknown>> | null;
  replans: number;
  collisions: number;
  lostAt: number | null;
  isAlone: boolean;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface SubmitOptions {
  rows?: number;
  runNo?: RunNo | null;
  /** That run, if it need not be read. Called when its turn has come. */
  known?: () => KnownRun | null;
  /** It was written before, and the answer was lost. */
  wasLost?: boolean;
}

export interface GroupWriterParts {
  database: Database;
  reads: RunReads;
  known: KnownRuns;
  words: Words;
  blocks: Record<Numbered, NumberBlocks>;
  onCommit(drafts: readonly UnitDraft[]): void;
  /** Entries that may be held in this node's name although nobody here knows of it: the answer that handed them over was lost. */
  letGo(entries: readonly EntryKey[]): Promise<void>;
}

export class GroupWriter {
  readonly #parts: GroupWriterParts;
  #planned: Unit[] = [];
  readonly #busyRuns = new Map<RunNo, Unit[]>();
  /** Units that were submitted and not settled. */
  #open = 0;
  #lost: EntryKey[] = [];
  /** Of what is planned. */
  #rows = 0;
  readonly #departures = new Departures({ waiting: () => this.#rows, depart: () => this.#depart() });
  #isStopped = false;
  #whenIdle: (() => void) | null = null;

  constructor(parts: GroupWriterParts) {
    this.#parts = parts;
  }

  submit<Result>(plan: Plan<Result>, { rows = 1, runNo = null, known = () => null, wasLost = false }: SubmitOptions = {}): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new StoreUnavailable("the store has stopped"));
    return new Promise((resolve, reject) => {
      const fresh = {
        draft: null,
        answerPlace: null,
        tell: null,
        replans: 0,
        collisions: 0,
        lostAt: wasLost ? Date.now() : null,
        isAlone: false,
      };
      const unit: Unit = { rows, runNo, known, plan, ...fresh, resolve: resolve as Unit["resolve"], reject };
      this.#open++;
      const queue = runNo === null ? undefined : this.#busyRuns.get(runNo);
      if (queue) return void queue.push(unit);
      if (runNo !== null) this.#busyRuns.set(runNo, []);
      void this.#plan(unit);
    });
  }

  /** Writes what was submitted, and takes nothing more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  async #plan(unit: Unit): Promise<void> {
    const { reads, words, blocks } = this.#parts;
    const unitReads = new UnitReads(reads, blocks, unit.replans === 0 ? unit.known() : null);
    for (;;) {
      try {
        unit.draft = new UnitDraft(unitReads, words, unit.replans > 0);
        unit.tell = unit.plan(unit.draft);
        unit.draft.finish();
        break;
      } catch (error) {
        if (!(error instanceof NotRead)) return this.#fail(unit, error);
        const failure = await error.read().then(
          () => null,
          (reason: unknown) => reason,
        );
        if (failure) return this.#fail(unit, failure);
      }
    }
    if (unit.draft.isEmpty()) return this.#succeed(unit, AS_PLANNED);
    // What met others once is looked at one by one from then on.
    unit.answerPlace = unit.replans === 0 && unit.collisions === 0 ? answerPlace(unit.draft) : null;
    this.#await(unit);
  }

  /** Units that would have to see what the other does do not share a group, nor do those that are not written the same way. */
  #depart(): { rows: number; arrived: Promise<void> } | null {
    const group: Unit[] = [];
    const later: Unit[] = [];
    const touched = new Touched();
    const way = this.#planned[0]?.answerPlace ?? null;
    let rows = 0;
    for (const [index, unit] of this.#planned.entries()) {
      const draft = unit.draft as UnitDraft;
      const isFull = rows >= GROUP_ROWS_MAX || (group.length > 0 && (unit.isAlone || group[0]?.isAlone));
      if (isFull) {
        later.push(...this.#planned.slice(index));
        break;
      }
      if (!isSameWay(unit.answerPlace, way) || !touched.leaves(draft)) {
        later.push(unit);
        continue;
      }
      touched.add(draft);
      group.push(unit);
      rows += unit.rows;
    }
    this.#planned = later;
    this.#rows -= rows;
    return group.length === 0 ? null : { rows, arrived: this.#write(group) };
  }

  #await(unit: Unit): void {
    this.#planned.push(unit);
    this.#rows += unit.rows;
    this.#departures.schedule();
  }

  async #write(group: Unit[]): Promise<void> {
    const { onCommit } = this.#parts;
    let written: readonly WrittenUnit[];
    try {
      written = await this.#writeAll(group);
    } catch (error) {
      return this.#afterFailure(group, error);
    }
    onCommit(group.flatMap(({ draft }, index) => (written[index]?.isStale ? [] : [draft as UnitDraft])));
    for (const [index, unit] of group.entries()) {
      const outcome = written[index] as WrittenUnit;
      this.#remember(unit, outcome);
      if (unit.lostAt !== null) this.#lost.push(...lostEntries(unit.draft as UnitDraft, outcome));
      if (outcome.isStale) this.#replan(unit);
      else this.#succeed(unit, outcome);
    }
    if (this.#lost.length > 0) this.#letGoOfLost();
  }

  async #writeAll(group: readonly Unit[]): Promise<readonly WrittenUnit[]> {
    const { database } = this.#parts;
    const place = group[0]?.answerPlace;
    const units = group.map(({ draft, lostAt }) => ({ draft: draft as UnitDraft, isWrittenAgain: lostAt !== null }));
    if (!place) return writeUnits(database, units);
    await writeAnswers(
      database,
      place,
      units.map(({ draft }) => draft),
    );
    return units.map(() => AS_PLANNED);
  }

  /** The runs that were changed, as they are now, if this is known for sure. */
  #remember({ draft, lostAt }: Unit, outcome: WrittenUnit): void {
    const { known } = this.#parts;
    if (!draft) return;
    known.forget(draft.changedRuns);
    if (!outcome.isStale && lostAt === null) for (const run of draft.runsLeft(outcome)) known.keep(run);
  }

  /** Entries that may be held in this node's name although it was never told so. */
  noteLost(entries: readonly EntryKey[]): void {
    this.#lost.push(...entries);
    if (this.#lost.length > 0) this.#letGoOfLost();
  }

  #letGoOfLost(): void {
    const lost = this.#lost;
    this.#lost = [];
    this.#parts.letGo(lost).catch(() => this.#lost.push(...lost));
  }

  #afterFailure(group: Unit[], error: unknown): void {
    const cause = error instanceof StoreUnavailable ? error.cause : error;
    const isServers = serverFault(cause) !== null;
    if (isServers) {
      for (const unit of group) {
        if (isOutcomeUnknown(cause) || unit.lostAt !== null) void this.#writeAgain(unit, error);
        else this.#fail(unit, error);
      }
      return;
    }
    if (isCollision(cause)) {
      this.#parts.words.forgetLanes();
      for (const unit of group) {
        if (++unit.collisions > COLLISIONS_MAX)
          this.#fail(unit, new StoreUnavailable("other transactions were in the way each time", error));
        else this.#replan(unit);
      }
      return;
    }
    const [only] = group;
    if (only && group.length === 1) return this.#fail(only, error);
    for (const unit of group) Object.assign(unit, { isAlone: true, answerPlace: null });
    this.#planned.unshift(...group);
    this.#rows += group.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** The connection broke before the answer: only writing the same again tells whether it was kept. */
  async #writeAgain(unit: Unit, error: unknown): Promise<void> {
    unit.lostAt ??= Date.now();
    unit.answerPlace = null;
    if (Date.now() - unit.lostAt > LOST_ANSWER_MS || this.#isStopped) return this.#fail(unit, error);
    await new Promise((resolve) => setTimeout(resolve, LOST_ANSWER_PAUSE_MS));
    this.#await(unit);
  }

  #replan(unit: Unit): void {
    if (++unit.replans > REPLANS_MAX) return this.#fail(unit, new StoreUnavailable("what was decided on changed each time"));
    void this.#plan(unit);
  }

  #succeed(unit: Unit, written: WrittenUnit): void {
    const result = unit.tell?.(written, unit.lostAt !== null);
    this.#close(unit);
    unit.resolve(result);
  }

  #fail(unit: Unit, error: unknown): void {
    if (unit.lostAt !== null && unit.draft) this.#lost.push(...lostEntries(unit.draft, null));
    this.#close(unit);
    unit.reject(error);
  }

  #close(unit: Unit): void {
    this.#open--;
    if (unit.runNo !== null) {
      const next = this.#busyRuns.get(unit.runNo)?.shift();
      if (next) void this.#plan(next);
      else this.#busyRuns.delete(unit.runNo);
    }
    if (this.#open === 0) this.#whenIdle?.();
  }
}

function isSameWay(one: AnswerPlace | null, other: AnswerPlace | null): boolean {
  return one?.environmentId === other?.environmentId && one?.node === other?.node;
}

/** What a unit that was written twice handed over the first time. Null: nobody knows whether it was written. */
function lostEntries({ rows, handedFor }: UnitDraft, outcome: WrittenUnit | null): EntryKey[] {
  const leased = [...rows.newEntries, ...rows.entries].flatMap(({ environment_id, entry_no, leased_by }) =>
    leased_by ? [{ environmentId: environment_id as EnvironmentId, no: entry_no as EntryNo }] : [],
  );
  if (outcome === null || outcome.isStale) return leased;
  return leased.filter(({ no }) => outcome.firsts.has(handedFor.get(no) ?? 0));
}
