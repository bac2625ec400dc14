/** Repeats a transaction that PostgreSQL ended because it conflicted with another: nothing of it was written. */

import { StoreUnavailable } from "../contract/index.ts";
import { isCollision } from "./failures.ts";

const COLLISIONS_MAX = 5;

/** `work` may be done several times. Throws StoreUnavailable if it conflicts each time. */
export async function retryCollisions<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let collisions = 1; ; collisions++) {
    try {
      return await work();
    } catch (error) {
      if (!isCollision(error)) throw error;
      if (collisions === COLLISIONS_MAX) throw new StoreUnavailable(`it conflicted with other transactions ${COLLISIONS_MAX} times`, error);
    }
  }
}
