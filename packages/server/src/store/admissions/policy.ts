/** What an admission may take, and what it leaves waiting. The engine reads and moves the runs. */

import { ADMISSIONS_MAX, type RunAdmitResult } from "../contract/index.ts";

/** How many runs one call may admit. `free`: the free slots of the limit; null: there is no limit. */
export function admissionRoom(free: number | null): number {
  return Math.min(free ?? ADMISSIONS_MAX, ADMISSIONS_MAX);
}

export interface AdmissionFacts {
  /** Before the admission; null: there is no limit. */
  free: number | null;
  /** The first due runs by rank, at most as many as there was room for. */
  found: number;
  /** Of these, runs that no other transaction was changing. */
  lockable: number;
  /** What the throttle said about the lockable ones; null: it was not asked. */
  throttled: { count: number; nextAt: number } | null;
  /** Every gate that contains a due run after the admitted ones have moved. */
  waiting: string[];
}

export function admittedCount({ lockable, throttled }: Pick<AdmissionFacts, "lockable" | "throttled">): number {
  return throttled ? Math.min(throttled.count, lockable) : lockable;
}

/** Another admission follows at once only if nothing but the bound of one call kept the runs that still wait. */
export function admissionResult({ free, found, lockable, throttled, waiting }: AdmissionFacts): RunAdmitResult {
  const admitted = admittedCount({ lockable, throttled });
  const isFull = free !== null && free <= admitted;
  const isThrottled = throttled !== null && admitted < lockable;
  const isWaiting = waiting.length > 0;
  return {
    admitted,
    waiting,
    more: isWaiting && !isFull && !isThrottled && lockable === found,
    nextAt: isWaiting && isThrottled ? throttled.nextAt : null,
  };
}

/** Of runs in order only the first is admitted: all gates of the key wait while it has runs. */
export function orderedAdmissionResult(
  throttled: AdmissionFacts["throttled"],
  { lockable, waiting }: Pick<AdmissionFacts, "lockable" | "waiting">,
): RunAdmitResult {
  const admitted = admittedCount({ lockable, throttled });
  return { admitted, waiting, more: false, nextAt: throttled !== null && admitted < lockable ? throttled.nextAt : null };
}
