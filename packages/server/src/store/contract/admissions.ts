/**
 * Admission of runs to functions that limit how many of their runs there are at a time, or how many start in a period. A run that
 * must wait for that stands in a lane of its own, its gate. Once admitted it goes on in another lane; a slot it took it keeps until
 * it has ended, asleep or not.
 */

import type { FunctionNo } from "@inlet/protocol";
import type { LimitRule } from "./queue.ts";

export interface RunAdmitParams {
  functionNo: FunctionNo;
  /** Null: any number of runs may be active. */
  limit: LimitRule | null;
  /** Null: any number may start. */
  throttle: RunThrottle | null;
  /** Runs start in order: only the one whose turn it is among those of this key is admitted. Null: by rank. */
  orderKey: string | null;
  /** Where runs wait, and the lane in which those of each gate go on. */
  gates: readonly { lane: string; home: string }[];
  now: number;
}

/** A pure rule about what the function remembers under a key. */
export interface RunThrottle {
  key: string;
  /** How many of `wanted` may start now, what is to be remembered then, and when the next may start if not all may. */
  admit(remembered: string | null, wanted: number): { count: number; remember: string; expiresAt: number; nextAt: number };
}

export interface RunAdmitResult {
  admitted: number;
  /** Gates at which others wait. */
  waiting: string[];
  /** More can be admitted at once: only so many are at a time. */
  more: boolean;
  /** When the throttle admits the next; null: it holds nobody up. */
  nextAt: number | null;
}

export interface AdmissionStore {
  /**
   * Admits runs that wait, lowest rank first or in order, some hundreds at a time at most, and announces the lanes they go on in. However many
   * nodes do this at the same time, no limit is exceeded.
   */
  runAdmitMany(params: RunAdmitParams): Promise<RunAdmitResult>;
}

/** Bounds how long one transaction takes. */
export const ADMISSIONS_MAX = 500;
