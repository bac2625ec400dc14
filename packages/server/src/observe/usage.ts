/**
 * Counts refused events, calls and the time of transforms by environment and by key, webhook or function, in memory, and adds them to the store every
 * few seconds. The other figures of usage are counted in the transactions that store events and runs.
 */

import { type EnvironmentId, HOUR_MS } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  noUsage,
  type Store,
  type UsageFigures,
  type UsageHour,
  type UsageKind,
  type UsageStore,
  writeByDatabase,
} from "../store/contract/index.ts";
import { FlushLoop } from "./flush-loop.ts";

const FLUSH_EVERY_MS = 2_000;
/** Bounds the memory used while the store is not writable. */
const HOURS_MAX = 20_000;

export interface UsageParts {
  store: Pick<UsageStore, "usageAdd"> & Pick<Store, "storeDatabaseOf">;
  log: Logger;
  now: () => number;
}

/** What counts, besides its environment. */
export interface UsageSource {
  kind: Exclude<UsageKind, "environment">;
  id: string;
}

export type NotedFigures = Partial<Pick<UsageFigures, "refused" | "calls" | "transformMs">>;

export class Usage {
  readonly #parts: UsageParts;
  readonly #loop: FlushLoop;
  #hours = new Map<string, UsageHour>();

  constructor(parts: UsageParts) {
    this.#parts = parts;
    this.#loop = new FlushLoop({ everyMs: FLUSH_EVERY_MS, write: () => this.#write(), what: "usage", log: parts.log });
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  flush(): Promise<void> {
    return this.#loop.flush();
  }

  note(environmentId: EnvironmentId, source: UsageSource | null, figures: NotedFigures): void {
    const now = this.#parts.now();
    const at = now - (now % HOUR_MS);
    this.#add({ environmentId, kind: "environment", subject: "", at }, figures);
    if (source) this.#add({ environmentId, kind: source.kind, subject: source.id, at }, figures);
  }

  async #write(): Promise<void> {
    const noted = [...this.#hours.values()];
    if (noted.every(({ figures: { refused, calls, transformMs } }) => refused + calls + Math.floor(transformMs) === 0)) return;
    this.#hours = new Map();
    const { store } = this.#parts;
    const write = async (hours: readonly UsageHour[]) => {
      await store.usageAdd({ hours: hours.map((hour) => ({ ...hour, figures: whole(hour.figures) })) });
      // Fractions of a millisecond add up with those to come.
      for (const hour of hours) if (hour.figures.transformMs % 1 > 0) this.#add(hour, { transformMs: hour.figures.transformMs % 1 });
    };
    await writeByDatabase(store, noted, write, (left) => {
      for (const hour of left) this.#add(hour, hour.figures);
    });
  }

  #add({ environmentId, kind, subject, at }: Omit<UsageHour, "figures">, { refused = 0, calls = 0, transformMs = 0 }: NotedFigures): void {
    const key = `${environmentId} ${kind} ${at} ${subject}`;
    const known = this.#hours.get(key);
    const hour = known ?? { environmentId, kind, subject, at, figures: noUsage() };
    if (!known && this.#hours.size >= HOURS_MAX) return;
    this.#hours.set(key, hour);
    hour.figures.refused += refused;
    hour.figures.calls += calls;
    hour.figures.transformMs += transformMs;
  }
}

function whole(figures: UsageFigures): UsageFigures {
  return { ...figures, transformMs: Math.floor(figures.transformMs) };
}
