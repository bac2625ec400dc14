/**
 * Moves of environments from one database to another, while they run. The directory records each move; its job, in the environment, shows
 * it to people.
 *
 *   moving ──▶ switched ──▶ forgetting ──▶ ended      the environment is in its new database, the old rows are removed
 *     └──────▶ aborting ──▶ clearing ────▶ ended      it is where it was, the copied rows are removed
 *
 * The environment is where the directory says it is, and that changes with `switched`, in one transaction. One node at a time works on a
 * move; when its lease expires, another continues.
 */

import type { EnvironmentId, JobId } from "@inlet/protocol";

export type MoveState = "moving" | "aborting" | "switched" | "forgetting" | "clearing" | "ended";

export interface EnvironmentMove {
  environmentId: EnvironmentId;
  jobId: JobId;
  /** Numbers of databases. */
  from: number;
  to: number;
  state: MoveState;
  beganAt: number;
}

export interface EnvironmentMoveInsertParams {
  environmentId: EnvironmentId;
  jobId: JobId;
  /** Not where it is. */
  to: number;
  /** Of the job: JSON text of an object. */
  filter: string;
  now: number;
}

/** What was done: the move after it, and when there is more to do. */
export interface MoveProgress {
  move: EnvironmentMove;
  nextAt: number;
  /** What failed. The move goes on by itself. */
  failure: string | null;
}

/** Holds the lease of a job of a move, so that no node takes it for a list of items. */
export const MOVE_LEASE_HOLDER = "environments.move";

export interface EnvironmentMoveStore {
  /**
   * Records a move and its job. False, without effect: one is under way, or the environment is there. If the environment has left that
   * database lately, the move begins when no node can still mean to write there. If this throws, a move that was recorded
   * ends by itself, and its job with it.
   */
  environmentMoveInsert(params: EnvironmentMoveInsertParams): Promise<boolean>;
  /** Those that have not ended. */
  environmentMoveList(): Promise<EnvironmentMove[]>;
  /** Works for a short time on the move that has waited longest and that no other node works on. Null: there is none. */
  environmentMoveAdvance(params: { now: number; leaseMs: number }): Promise<MoveProgress | null>;
}
