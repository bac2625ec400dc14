/**
 * One transaction for all pending work, as in the embedded store. Work that arrives while a group is being written is collected for the
 * next one, so a busy node pays for one commit per group, and an idle one adds no delay.
 *
 * A group belongs to one environment, so that it uses one shard of a sharded PostgreSQL. The next group of an environment begins when the
 * statements of the one before have run, while PostgreSQL commits them: units are written in the order in which they were submitted,
 * unless one of them fails or a connection breaks. A group that only commits waits for no lock, so groups of a node cannot deadlock.
 *
 * The states of a unit:
 *
 *   waiting ── its group is written ──────────────────────────────► settled
 *      ▲  └── PostgreSQL is unusable ─────────────────────────────► settled (StoreUnavailable)
 *      ├───── its group left it out: waits again
 *      ├───── the group conflicted with another transaction, or one of its units failed: waits again, alone
 *      └───── the connection broke: waits again; `mayBeWritten` if that was after the commit was sent
 *
 * A unit that is written again because the response to its commit was lost has to determine itself whether it was written. The leases
 * that the lost attempt may have taken are released, because this node does not know of them.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { type LeasedEntry, StoreUnavailable } from "../contract/index.ts";
import { callListeners } from "../shared/call-listeners.ts";
import { CommitUnknown, type Database } from "./database.ts";
import { isCollision, isConnectionLost, isTimeout, isUniqueViolation, serverFault } from "./failures.ts";

/** Bounds the duration of one transaction. */
const GROUP_ROWS_MAX = 1_000;
const GROUPS_AT_ONCE = 4;
const COLLISIONS_MAX = 10;
/** How long after its submission a unit whose connection broke is tried again. */
const RETRY_MS = 5_000;
/** A unit that waited this long behind a group that PostgreSQL did not write in time fails with it, rather than wait as long again. */
const STALLED_MS = 1_000;
const LOST_PAUSE_MS = 100;

export interface UnitTraits {
  environmentId: EnvironmentId;
  rows: number;
  /** Units that share one are never in the same group. */
  keys: readonly string[];
}

export interface Attempt<Work> {
  work: Work;
  /** An earlier attempt may have been committed. */
  mayBeWritten: boolean;
}

/** Writes the units of a group. Called again with some of them if the transaction was rolled back. */
export type WriteGroup<Work, Result> = (
  client: PoolClient,
  environmentId: EnvironmentId,
  attempts: readonly Attempt<Work>[],
) => Promise<Written<Result>>;

export interface Written<Result> {
  /** One for each unit. Null: nothing of it was written, and it waits for a later group. Never all of them. */
  results: (Result | null)[];
  /** Listeners and other nodes are notified. */
  onCommit(): void;
}

interface Unit<Work, Result> extends UnitTraits {
  work: Work;
  mayBeWritten: boolean;
  isAlone: boolean;
  collisions: number;
  /** By `performance.now()`. */
  submittedAt: number;
  /** Leases of attempts whose outcome is unknown. */
  lostLeases: readonly LeasedEntry[];
  resolve(value: Result): void;
  reject(error: unknown): void;
}

export interface GroupCommitParts<Work, Result> {
  database: Database;
  /** Writes what must be committed before the transaction begins. */
  prepare?(works: readonly Work[]): Promise<void>;
  write: WriteGroup<Work, Result>;
  onCommitted?(durationMs: number, results: readonly Result[]): void;
  /** Releases leases that a lost attempt may have taken. */
  release(entries: readonly LeasedEntry[]): Promise<void>;
}

export class GroupCommit<Work, Result extends { leased: readonly LeasedEntry[] }> {
  readonly #parts: GroupCommitParts<Work, Result>;
  #waiting: Unit<Work, Result>[] = [];
  #groupsInProgress = 0;
  /** The groups whose statements have not all run. */
  readonly #running = new Map<EnvironmentId, readonly Unit<Work, Result>[]>();
  /** Submitted units that are not settled. */
  #open = 0;
  #isScheduled = false;
  #isStopped = false;
  #whenIdle: (() => void) | null = null;

  constructor(parts: GroupCommitParts<Work, Result>) {
    this.#parts = parts;
  }

  submit(work: Work, traits: UnitTraits): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new StoreUnavailable("the store has stopped"));
    return new Promise((resolve, reject) => {
      this.#open++;
      const fresh = { mayBeWritten: false, isAlone: false, collisions: 0, submittedAt: performance.now(), lostLeases: [] };
      this.#waiting.push({ ...traits, ...fresh, work, resolve, reject });
      this.#schedule();
    });
  }

  /** Writes all submitted units, and accepts no more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#open > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#groupsInProgress >= GROUPS_AT_ONCE) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      const group = this.#nextGroup();
      if (group.length === 0) return;
      void this.#run(group);
      this.#schedule();
    });
  }

  /** Takes units of the environment that has waited longest and has no running group. A unit that shares a key with an earlier one waits. */
  #nextGroup(): Unit<Work, Result>[] {
    const group: Unit<Work, Result>[] = [];
    const later: Unit<Work, Result>[] = [];
    const taken = new Set<string>();
    let rows = 0;
    for (const unit of this.#waiting) {
      const [first] = group;
      const isFull = rows >= GROUP_ROWS_MAX || first?.isAlone === true || (first !== undefined && unit.isAlone);
      const isOurs = first ? first.environmentId === unit.environmentId : !this.#running.has(unit.environmentId);
      if (isOurs && !isFull && !unit.keys.some((key) => taken.has(key))) {
        group.push(unit);
        rows += unit.rows;
      } else later.push(unit);
      for (const key of unit.keys) taken.add(key);
    }
    this.#waiting = later;
    return group;
  }

  async #run(group: Unit<Work, Result>[]): Promise<void> {
    const { environmentId } = group[0] as Unit<Work, Result>;
    this.#running.set(environmentId, group);
    this.#groupsInProgress++;
    try {
      await this.#write(group, environmentId);
    } catch (error) {
      await this.#afterFailure(group, error);
    }
    this.#groupsInProgress--;
    this.#letNextBegin(group, environmentId);
    if (this.#open === 0) this.#whenIdle?.();
  }

  #letNextBegin(group: readonly Unit<Work, Result>[], environmentId: EnvironmentId): void {
    if (this.#running.get(environmentId) === group) this.#running.delete(environmentId);
    this.#schedule();
  }

  async #write(group: readonly Unit<Work, Result>[], environmentId: EnvironmentId): Promise<void> {
    const { database, prepare, write } = this.#parts;
    await prepare?.(group.map(({ work }) => work));
    let written: Written<Result> | null = null;
    const begun = performance.now();
    try {
      written = await database.transaction(async (client) => {
        written = await write(client, environmentId, group);
        // A unit that was left out comes before those that wait.
        if (!written.results.includes(null)) this.#letNextBegin(group, environmentId);
        return written;
      });
    } catch (error) {
      if (error instanceof CommitUnknown) noteLost(group, written);
      throw error;
    }
    const { results, onCommit } = written;
    const kept = results.filter((result) => result !== null);
    callListeners(onCommit, () => this.#parts.onCommitted?.(performance.now() - begun, kept));
    this.#waiting.unshift(...group.filter((_unit, index) => results[index] === null));
    for (const [index, unit] of group.entries()) {
      const result = results[index];
      if (result) this.#settle(unit, () => unit.resolve(result));
    }
  }

  async #afterFailure(group: Unit<Work, Result>[], error: unknown): Promise<void> {
    const cause = error instanceof StoreUnavailable ? error.cause : error;
    if (error instanceof CommitUnknown || isConnectionLost(cause)) return this.#again(group, error);
    if (isTimeout(cause)) this.#failStalled(group, error);
    if (error instanceof StoreUnavailable || serverFault(cause) !== null) return this.#fail(group, error);
    // Another group, or a lost attempt of this one, wrote the same id first: the next attempt finds it.
    if (isCollision(cause) || isUniqueViolation(cause)) for (const unit of group) unit.collisions++;
    else if (group.length === 1) return this.#fail(group, error);
    const [exhausted, others] = split(group, ({ collisions }) => collisions > COLLISIONS_MAX);
    this.#fail(exhausted, new StoreUnavailable(`it conflicted with other transactions ${COLLISIONS_MAX} times`, error));
    for (const unit of others) unit.isAlone = true;
    this.#waiting.unshift(...others);
  }

  async #again(group: Unit<Work, Result>[], error: unknown): Promise<void> {
    const [over, others] = split(group, ({ submittedAt }) => this.#isStopped || performance.now() - submittedAt > RETRY_MS);
    this.#fail(over, error);
    if (others.length === 0) return;
    await pause(LOST_PAUSE_MS);
    this.#waiting.unshift(...others);
  }

  #failStalled([first]: readonly Unit<Work, Result>[], error: unknown): void {
    const isStalled = ({ environmentId, submittedAt }: Unit<Work, Result>) =>
      environmentId === first?.environmentId && performance.now() - submittedAt > STALLED_MS;
    const [stalled, others] = split(this.#waiting, isStalled);
    this.#waiting = others;
    this.#fail(stalled, error);
  }

  #fail(units: readonly Unit<Work, Result>[], error: unknown): void {
    for (const unit of units) this.#settle(unit, () => unit.reject(error));
  }

  #settle(unit: Unit<Work, Result>, notify: () => void): void {
    this.#open--;
    // Leases that cannot be released now expire on their own.
    if (unit.lostLeases.length > 0) this.#parts.release(unit.lostLeases).catch(() => {});
    notify();
  }
}

function noteLost<Work, Result extends { leased: readonly LeasedEntry[] }>(
  group: readonly Unit<Work, Result>[],
  written: Written<Result> | null,
): void {
  for (const [index, unit] of group.entries()) {
    unit.mayBeWritten = true;
    unit.lostLeases = [...unit.lostLeases, ...(written?.results[index]?.leased ?? [])];
  }
}

function split<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
