/** A write that the store cannot take now is repeated until it can: only a crash loses it. */

import { StoreUnavailable } from "../../store/contract/index.ts";
import { type Clock, sleepOn } from "../clock.ts";

const RETRY_MS = [50, 200, 1_000];

/** Repeats a write until it succeeds, fails for another reason, or its time is up. */
export type UntilWritten = <Result>(write: () => Promise<Result>) => Promise<Result>;

/** `isTimeUp`: the node stops, and has waited for the store as long as it may. */
export function createUntilWritten(clock: Clock, isTimeUp: () => boolean): UntilWritten {
  return async (write) => {
    for (let tries = 0; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || isTimeUp()) throw error;
        await sleepOn(clock, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] as number);
      }
    }
  };
}
