/**
 * An environment moves from one database to the other and back, at random moments, while everything else goes on. The nodes work on its
 * moves, whichever of them are up. Some moves are cancelled on their way.
 */

import { randomUUID } from "node:crypto";
import type { JobId } from "@inlet/protocol";
import { type Environment, type Store, StoreUnavailable } from "../../src/store/contract/index.ts";
import type { Random } from "./random.ts";
import { now, pass } from "./virtual-time.ts";

const PAUSE_MS_MAX = 3_000;
const CANCELLED = 0.2;
const CANCEL_MS_MAX = 1_500;
const LEASE_MS = 10_000;
const LOOK_MS = 100;

/** Of `kind` default: the one of the scenario. `end` resolves when it is in one place, and nothing is left in the other. */
export function startMoves(store: Store, random: Random): { end(): Promise<void> } {
  let isEnding = false;
  const move = async () => {
    while (!isEnding) {
      await pass(random.int(1, PAUSE_MS_MAX));
      const environment = (await store.environmentList()).find(({ kind }) => kind === "default");
      if (environment && !isEnding) await beginMove(store, random, environment);
    }
  };
  const moving = move();
  moving.catch(() => undefined);
  return {
    async end() {
      isEnding = true;
      await moving;
      // Whoever worked on them may be gone.
      while ((await store.environmentMoveList()).length > 0) {
        const progress = await store.environmentMoveAdvance({ now: now(), leaseMs: LEASE_MS }).catch(unlessUnavailable);
        if (!progress) await pass(LOOK_MS);
      }
    },
  };
}

async function beginMove(store: Store, random: Random, { id: environmentId, databaseNo }: Environment): Promise<void> {
  const jobId = randomUUID() as string as JobId;
  const begun = await store.environmentMoveInsert({ environmentId, jobId, to: 1 - databaseNo, filter: "{}", now: now() });
  if (!begun || !random.chance(CANCELLED)) return;
  await pass(random.int(0, CANCEL_MS_MAX));
  await store.jobEnd({ environmentId, id: jobId, status: "cancelled", now: now() }).catch(unlessUnavailable);
}

function unlessUnavailable(error: unknown): null {
  if (error instanceof StoreUnavailable) return null;
  throw error;
}
