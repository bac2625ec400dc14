/**
 * Admission of runs to functions that limit how many of their runs are active at a time, or how many start in a period. A run that has
 * to wait stands in a lane of its own, its gate. Once admitted, it continues in another lane. It keeps the slot it took until it has
 * ended, even while it sleeps.
 */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { LimitRule } from "../queue/contract.ts";

export interface RunAdmitParams {
  /** The environment of the function. Absent: it is not known. */
  environmentId?: EnvironmentId | undefined;
  functionNo: FunctionNo;
  /** Null: any number of runs may be active. */
  limit: LimitRule | null;
  /** Null: any number may start. */
  throttle: RunThrottle | null;
  /** Runs start in order: of the runs with this key, only the first is admitted. Null: by rank. */
  orderKey: string | null;
  /** The gates in which runs wait, and for each the lane in which its runs continue. */
  gates: readonly { lane: string; home: string }[];
  now: number;
}

/** A rule over the state that the function stores under a key, and the time. */
export interface RunThrottle {
  key: string;
  /** Asked while no other admission can change the state. How many of `wanted` may start now, the state to store in that case, and when the next may start if not all may. */
  admit(remembered: string | null, wanted: number): { count: number; remember: string; expiresAt: number; nextAt: number };
}

export interface RunAdmitResult {
  admitted: number;
  /** Gates in which runs still wait. */
  waiting: string[];
  /** More runs can be admitted at once: one call admits a bounded number. */
  more: boolean;
  /** When the throttle admits the next run; null: it delays none. */
  nextAt: number | null;
}

export interface AdmissionStore {
  /**
   * Admits waiting runs, lowest rank first or in order, at most a few hundred per call, and announces the lanes in which they continue.
   * No limit is exceeded, however many nodes call this at the same time.
   */
  runAdmitMany(params: RunAdmitParams): Promise<RunAdmitResult>;
  /** What the throttle of a key remembers; null if it remembers nothing. */
  throttleGet(params: { environmentId: EnvironmentId; functionNo: FunctionNo; key: string }): Promise<string | null>;
}

/** Bounds the duration of one transaction. */
export const ADMISSIONS_MAX = 500;
