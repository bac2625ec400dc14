/**
 * One writer, one transaction for all pending work.
 *
 * Work that arrives during a turn of the event loop and the next one is committed together, so a busy server pays for one
 * disk sync per group, and an idle one adds no noticeable delay. While a commit runs, requests queue up in the kernel; the next
 * turn reads them all, so groups grow with the load.
 *
 * A unit of work is a synchronous function over the writer's statements. It succeeds or fails with its group. If the disk is not
 * the cause of a failure, each unit is retried alone, so that one bad unit cannot fail the others.
 */

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { StoreUnavailable } from "../contract/index.ts";
import { callListeners } from "../shared/call-listeners.ts";
import { diskFault, translate } from "./failures.ts";

/** Bounds how long one commit blocks the event loop. */
const GROUP_ROWS_MAX = 2_000;

interface Unit {
  rows: number;
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface GroupCommitHooks {
  /** Called when writes begin to fail, and when they succeed again. */
  onFault(reason: string): void;
  onRecovery(): void;
  onCommit(durationMs: number): void;
  /** The units of a group have run: what they add together is written with them. */
  beforeCommit(): void;
  /** The last group was rolled back. */
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

  /** Runs `work` in the next transaction. Resolves with its result once that is on disk. */
  submit<Result>(work: () => Result, rows = 1): Promise<Result> {
    if (this.#stopped) return Promise.reject(new StoreUnavailable("the store has stopped"));
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ rows, run: work, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Commits pending work, and accepts no more. */
  stop(): void {
    while (this.#waiting.length > 0) this.#commitGroup(this.#nextGroup());
    this.#stopped = true;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Not at the end of this turn: more work is often ready by the next one, especially results of the sandbox, which arrive in
    // small groups.
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
    callListeners(() => this.#hooks.onCommit(performance.now() - begun));
    for (let i = 0; i < group.length; i++) group[i]?.resolve(results[i]);
  }

  #transact(group: Unit[]): unknown[] {
    this.#begin.run();
    try {
      const results = group.map((unit) => unit.run());
      this.#hooks.beforeCommit();
      this.#commit.run();
      return results;
    } catch (error) {
      // Some errors, such as a full disk, have already rolled back.
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
