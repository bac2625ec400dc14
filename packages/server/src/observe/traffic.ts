/**
 * Counts refused and duplicate events by environment and minute, in memory, and adds them to the store every few seconds: recording one costs a
 * lookup and an addition. Counts since the last write are lost if the process is killed. Runs are counted in the transactions
 * that change them, and accepted events from their rows (store/event-types), so those are exact.
 */

import { type EnvironmentId, MINUTE_MS } from "@inlet/protocol";
import type { Logger } from "pino";
import { type Store, type TrafficFigures, type TrafficMinute, type TrafficStore, writeByDatabase } from "../store/contract/index.ts";
import { FlushLoop } from "./flush-loop.ts";

const FLUSH_EVERY_MS = 2_000;

export interface TrafficParts {
  store: Pick<TrafficStore, "trafficAdd"> & Pick<Store, "storeDatabaseOf">;
  log: Logger;
  now: () => number;
}

export class Traffic {
  readonly #parts: TrafficParts;
  #open = new Map<EnvironmentId, TrafficMinute>();
  #full: TrafficMinute[] = [];
  readonly #loop: FlushLoop;

  constructor(parts: TrafficParts) {
    this.#parts = parts;
    this.#loop = new FlushLoop({ everyMs: FLUSH_EVERY_MS, write: () => this.#add(), what: "figures", log: parts.log });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  note(environmentId: EnvironmentId, figure: "refused" | "duplicates", count = 1): void {
    if (count > 0) this.#minute(environmentId).figures[figure] += count;
  }

  /** Adds the counts to the store. Never throws. */
  flush(): Promise<void> {
    return this.#loop.flush();
  }

  async #add(): Promise<void> {
    const minutes = [...this.#full, ...this.#open.values()];
    if (minutes.length === 0) return;
    this.#full = [];
    this.#open = new Map();
    const { store } = this.#parts;
    const add = (some: readonly TrafficMinute[]) => store.trafficAdd({ minutes: some });
    await writeByDatabase(store, minutes, add, (left) => {
      this.#full = [...left, ...this.#full].slice(-FULL_MAX);
    });
  }

  #minute(environmentId: EnvironmentId): TrafficMinute {
    const at = this.#parts.now();
    const open = this.#open.get(environmentId);
    if (open && at - open.at < MINUTE_MS && at >= open.at) return open;
    if (open) this.#full.push(open);
    const minute = { environmentId, at: at - (at % MINUTE_MS), figures: nothing() };
    this.#open.set(environmentId, minute);
    return minute;
  }
}

/** Bounds the memory used while the store is not writable. */
const FULL_MAX = 10_000;

function nothing(): TrafficFigures {
  return { accepted: 0, duplicates: 0, refused: 0, runsStarted: 0, runsCompleted: 0, runsFailed: 0 };
}
