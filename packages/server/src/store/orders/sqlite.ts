/** Positions of runs whose functions have an order, in SQLite: assigned, advanced and freed inside transactions. */

import type { DatabaseSync } from "node:sqlite";
import type { EnvironmentId, FunctionNo, RunNo } from "@inlet/protocol";
import { type NewRun, type OrderHold, type OrderHoldListParams, type OrderStore, orderId } from "../contract/index.ts";
import type { Limits } from "../limits/sqlite.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { type HoldRow, toHold } from "./rows.ts";

export class RunOrder {
  readonly #limits: Limits;
  readonly #join;
  readonly #replace;
  readonly #replaced;
  readonly #next;
  readonly #isWaiting;
  readonly #setState;
  readonly #remove;
  readonly #release;
  readonly #holds;
  readonly #heldRun;

  constructor(db: DatabaseSync, limits: Limits) {
    this.#limits = limits;
    this.#join = db.prepare("INSERT INTO ordered_runs (environment_id, function_no, key, run_no, state) VALUES (?, ?, ?, ?, 'waiting')");
    this.#replace = db.prepare("UPDATE ordered_runs SET run_no = ?, state = 'waiting', held_at = NULL WHERE run_no = ? AND state = 'held'");
    this.#replaced = db.prepare(`
      INSERT INTO ordered_runs (environment_id, function_no, key, run_no, state)
      SELECT ?1, ?2, ?3, ?4, 'leaving' WHERE EXISTS (SELECT 1 FROM queue WHERE run_no = ?4 AND kind = 'call')`);
    this.#next = db.prepare(`
      SELECT run_no FROM ordered_runs WHERE function_no = ?1 AND key = ?2
        AND NOT EXISTS (SELECT 1 FROM ordered_runs WHERE function_no = ?1 AND key = ?2 AND state <> 'waiting')
      ORDER BY position LIMIT 1`);
    this.#isWaiting = db.prepare("SELECT 1 FROM ordered_runs WHERE function_no = ? AND key = ? AND state = 'waiting' LIMIT 1");
    this.#setState = db.prepare("UPDATE ordered_runs SET state = ?2, held_at = ?3 WHERE run_no = ?1");
    this.#remove = db.prepare(`
      DELETE FROM ordered_runs WHERE run_no = ?1 AND state = 'leaving'
        AND NOT EXISTS (SELECT 1 FROM queue WHERE run_no = ?1 AND kind = 'call') RETURNING function_no, key`);
    this.#release = db.prepare("UPDATE ordered_runs SET state = 'leaving', held_at = NULL WHERE run_no = ? AND state = 'held'");
    this.#holds = db.prepare(`
      SELECT position, held.function_no, order_key, held_at, run_id,
        (SELECT count(*) FROM ordered_runs AS other
         WHERE other.function_no = held.function_no AND other.key = held.key AND other.state = 'waiting') AS waiting
      FROM ordered_runs AS held INDEXED BY ordered_runs_held LEFT JOIN runs USING (run_no)
      WHERE state = 'held' AND held.environment_id = ?1 AND position > ?2
        AND (?3 IS NULL OR held.function_no IN (SELECT value FROM json_each(?3)))
      ORDER BY position LIMIT ?4`);
    this.#heldRun = db.prepare("SELECT run_no FROM ordered_runs WHERE environment_id = ? AND position = ? AND state = 'held'");
  }

  /** At the end, or in the position of the run that it replaces, which leaves when none of its calls is in progress any more. */
  join(environmentId: EnvironmentId, runNo: RunNo, { functionNo, order, inPlaceOf }: NewRun): void {
    if (!order) return;
    if (inPlaceOf !== undefined && this.#replace.run(runNo, inPlaceOf).changes > 0)
      this.#replaced.run(environmentId, functionNo, order.key, inPlaceOf);
    else this.#join.run(environmentId, functionNo, order.key, runNo);
  }

  /** The next run in order; null if none waits, or another has to leave first. */
  next(functionNo: FunctionNo, key: string): RunNo | null {
    return (this.#next.get(functionNo, key)?.run_no as RunNo | undefined) ?? null;
  }

  isWaiting(functionNo: FunctionNo, key: string): boolean {
    return this.#isWaiting.get(functionNo, key) !== undefined;
  }

  begin(runNo: RunNo): void {
    this.#setState.run(runNo, "running", null);
  }

  /** The run has ended. */
  end(runNo: RunNo, heldAt: number | null): void {
    this.#setState.run(runNo, heldAt === null ? "leaving" : "held", heldAt);
    this.leave(runNo);
  }

  /** A leaving run is gone once none of its calls is in progress. */
  leave(runNo: RunNo): void {
    const row = this.#remove.get(runNo);
    if (row) this.#limits.noteFreed([orderId(row.function_no as FunctionNo, row.key as string)]);
  }

  release(runNo: RunNo): boolean {
    const isReleased = this.#release.run(runNo).changes > 0;
    this.leave(runNo);
    return isReleased;
  }

  releaseHold(environmentId: EnvironmentId, position: number): OrderHold | null {
    const runNo = this.#heldRun.get(environmentId, position)?.run_no as RunNo | undefined;
    if (runNo === undefined) return null;
    const { holds } = this.holds({ environmentId, limit: 1, after: position - 1 });
    this.release(runNo);
    return holds[0] ?? null;
  }

  holds({ environmentId, functionNos, limit, after = 0 }: OrderHoldListParams): Awaited<ReturnType<OrderStore["orderHoldList"]>> {
    const functions = functionNos ? JSON.stringify(functionNos) : null;
    const rows = this.#holds.all(environmentId, after, functions, limit + 1) as unknown as HoldRow[];
    const page = rows.slice(0, limit);
    return { holds: page.map(toHold), next: rows.length > limit ? (page.at(-1)?.position ?? null) : null };
  }
}

export function orderStore(writer: GroupCommit, order: RunOrder): OrderStore {
  return {
    orderHoldList: async (params) => order.holds(params),
    orderRelease: ({ runNo }) => writer.submit(() => order.release(runNo)),
    orderHoldRelease: ({ environmentId, position }) => writer.submit(() => order.releaseHold(environmentId, position)),
  };
}
