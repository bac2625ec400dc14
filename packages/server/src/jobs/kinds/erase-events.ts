/**
 * The kind events.erase: overwrites what events carried and led to. Unfinished runs that they started or resumed, and undecided starts, are
 * cancelled first; the internal events about that are erased with them. Erasing twice does no harm. The filter may itself be what is to
 * be forgotten, so only its hash is kept.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { EnvironmentId, RunNo } from "@inlet/protocol";
import { EVENT_FILTERS } from "../../api/events/events-routes.ts";
import type { ErasureStore, EventEraseParams, EventStore } from "../../store/contract/index.ts";
import type { JobKind } from "../job-kind.ts";
import { type FindEventsParts, findEvents } from "./find-events.ts";

export interface EraseEventsParts extends FindEventsParts {
  store: Pick<EventStore, "eventList"> & ErasureStore;
  cancel(run: { environmentId: EnvironmentId; no: RunNo }): Promise<boolean>;
  gatheringWithout: EventEraseParams["gatheringWithout"];
}

const BATCH_MAX = 20;
/** How long a batch waits for calls under way, before it is tried again later. */
const WAITS_MAX = 50;
const WAIT_MS = 100;

export function eraseEvents(parts: EraseEventsParts): JobKind {
  const { store, cancel, gatheringWithout } = parts;

  async function erase(environmentId: EnvironmentId, sequences: readonly number[]): Promise<void> {
    for (let waits = 0; waits < WAITS_MAX; waits++) {
      const { unfinished, calling, deciding } = await store.eventErase({ environmentId, sequences, gatheringWithout });
      if (unfinished.length + calling.length + deciding === 0) return;
      for (const no of unfinished) await cancel({ environmentId, no });
      if (unfinished.length === 0) await pause(WAIT_MS);
    }
    throw new Error("calls of runs that were cancelled are still under way");
  }

  return {
    kind: "events.erase",
    filters: EVENT_FILTERS,
    takesAll: false,
    hidesFilter: true,
    batchMax: BATCH_MAX,
    find: (environment, filter, cursor) => findEvents(parts, environment, filter, cursor),
    async work({ environmentId }, items) {
      await erase(environmentId, items as readonly number[]);
      return { starts: [], failures: [] };
    },
    async settle({ environmentId }) {
      await store.erasureSettle({ environmentId }).catch((error: Error) => {
        throw new Error(`Everything is erased, but the space it took in the store could not be cleaned: ${error.message}`, {
          cause: error,
        });
      });
      return undefined;
    },
  };
}
