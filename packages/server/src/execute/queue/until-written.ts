/** A write that the store cannot take now is repeated until it can: only a crash loses it. */

import { StoreUnavailable } from "../../store/contract/index.ts";
import { type Clock, sleepOn } from "../clock.ts";

const RETRY_MS = [50, 200, 1_000, 5_000];

/** Repeats writes until they succeed, fail for another reason, or the node stops. */
export type UntilWritten = <Result>(write: () => Promise<Result>) => Promise<Result>;

export function createUntilWritten(clock: Clock, isStopping: () => boolean): UntilWritten {
  return async (write) => {
    for (let tries = 0; ; tries++) {
      try {
        return await write();
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || isStopping()) throw error;
        await sleepOn(clock, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)] as number);
      }
    }
  };
}
