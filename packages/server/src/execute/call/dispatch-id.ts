/**
 * Names one call: which entry of the queue, which attempt, and how often the entry was taken up. An SDK hands it in with
 * results while its call goes on. After a crash or a timeout the entry is called anew, and the call before it, which may go on
 * in the app, must not hand in anything more: two calls would run the same steps side by side.
 */

import type { EntryRecord } from "../../store/contract/index.ts";

type Dispatch = Pick<EntryRecord, "no" | "attempt" | "claims">;

export function dispatchId({ no, attempt, claims }: Dispatch): string {
  return `${no}.${attempt}.${claims}`;
}

/** Results that were handed in begin the attempts anew, so a call may go on under the number 0. */
export function isSuperseded(id: string, entries: readonly EntryRecord[]): boolean {
  return !entries.some((entry) => entry.isHeld && (id === dispatchId(entry) || (entry.attempt === 0 && sameButAttempt(id, entry))));
}

function sameButAttempt(id: string, { no, claims }: Dispatch): boolean {
  const [idNo, , idClaims] = id.split(".");
  return idNo === String(no) && idClaims === String(claims);
}
