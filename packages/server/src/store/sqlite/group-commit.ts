/**
 * One writer, one transaction for everything that waits.
 *
 * Work that arrives during a turn of the event loop and the one after it is committed together, so a busy server pays for one
 * disk sync per group and an idle one waits for nothing: a turn in which nothing happens takes some microseconds. While a commit
 * runs, requests gather in the kernel; the next turn reads them all, which is what makes the groups grow with the load.
 *
 * A unit of work is a synchronous function over the writer's statements. It succeeds with the group or fails with it; when
 * the fault is not the disk's, each unit is tried again alone, so that one bad unit cannot fail its neighbours.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { StoreUnavailable } from "../contract/index.ts";
import { diskFault, translate } from "./failures.ts";

/** Bounds how long one commit keeps the event loop. */
const GROUP_ROWS_MAX = 2_000;

interface Unit {
  rows: number;
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface GroupCommitHooks {
  /** Called when writing begins to fail, and when it works again. */
  onFault(reason: string): void;
  onRecovery(): void;
  onCommit(durationMs: number): void;
  /** Nothing of the last group was kept. */
  onRollback(): void;
}

export class GroupCommit {
  readonly #db: DatabaseSync;
  readonly #hooks: GroupCommitHooks;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;
  #waiting: Unit[] = [];
  #scheduled = false;
  #faulty = false;
  #stopped = false;

  constructor(db: DatabaseSync, hooks: GroupCommitHooks) {
    this.#db = db;
    this.#hooks = hooks;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
  }

  /** Runs `work` in the next transaction; resolves with its result once that is on disk. */
  submit<Result>(work: () => Result, rows = 1): Promise<Result> {
    if (this.#stopped) return Promise.reject(new StoreUnavailable("the store has stopped"));
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ rows, run: work, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Commits what waits, and takes nothing more. */
  stop(): void {
    while (this.#waiting.length > 0) this.#commitGroup(this.#nextGroup());
    this.#stopped = true;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Not at the end of this turn: what comes next is often there already, above all answers of the sandbox, which come in small
    // groups.
    setImmediate(() => setImmediate(() => this.#commitNext()));
  }

  #commitNext(): void {
    this.#scheduled = false;
    if (this.#waiting.length > 0) this.#commitGroup(this.#nextGroup());
    if (this.#waiting.length > 0) this.#schedule();
  }

  #nextGroup(): Unit[] {
    let rows = 0;
    let count = 0;
    while (count < this.#waiting.length && (count === 0 || rows < GROUP_ROWS_MAX)) rows += this.#waiting[count++]?.rows ?? 0;
    return this.#waiting.splice(0, count);
  }

  #commitGroup(group: Unit[]): void {
    let results: unknown[];
    const begun = performance.now();
    try {
      results = this.#transact(group);
    } catch (error) {
      const fault = diskFault(error);
      if (fault) this.#noteFault(fault);
      if (fault || group.length === 1) for (const unit of group) unit.reject(translate(error));
      else for (const unit of group) this.#commitGroup([unit]);
      return;
    }
    this.#noteSuccess();
    this.#hooks.onCommit(performance.now() - begun);
    for (let i = 0; i < group.length; i++) group[i]?.resolve(results[i]);
  }

  #transact(group: Unit[]): unknown[] {
    this.#begin.run();
    try {
      const results = group.map((unit) => unit.run());
      this.#commit.run();
      return results;
    } catch (error) {
      // Some errors, a full disk among them, have already rolled back.
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      this.#hooks.onRollback();
      throw error;
    }
  }

  #noteFault(reason: string): void {
    if (!this.#faulty) this.#hooks.onFault(reason);
    this.#faulty = true;
  }

  #noteSuccess(): void {
    if (this.#faulty) this.#hooks.onRecovery();
    this.#faulty = false;
  }
}
