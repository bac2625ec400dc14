/**
 * How long the queue was, and how old its oldest call, over the last hours: looked at every few seconds and kept in memory, half a
 * minute a slot. A restart begins anew; these are curves for people, not books.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { QueueStore } from "../store/contract/index.ts";

const SAMPLE_EVERY_MS = 10_000;
/** A look that takes long, because a million calls wait, makes the next one later: reads are never kept from their thread. */
const REST_PER_LOOK = 100;
const SLOT_MS = 30_000;
/** Six hours. */
const SLOTS_MAX = 720;
/** As many as a chart can show; of slots that share a point the highest counts. */
const POINTS_MAX = 180;

export interface QueueFigures {
  waiting: number;
  oldestAgeMs: number;
}

export interface QueuePoint extends QueueFigures {
  at: number;
}

/** Environments in which nothing waited are not in it. */
interface Slot {
  at: number;
  figures: Map<EnvironmentId, QueueFigures>;
}

export interface QueueHistoryParts {
  store: Pick<QueueStore, "queueDepths">;
  log: Logger;
  now: () => number;
}

const NOTHING: QueueFigures = { waiting: 0, oldestAgeMs: 0 };

export class QueueHistory {
  readonly #parts: QueueHistoryParts;
  readonly #slots: Slot[] = [];
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: QueueHistoryParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#lookAgain(0);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    await this.#looking;
  }

  /** Who asks looks as well: the curve ends with what they are told. */
  async current(environmentId: EnvironmentId): Promise<QueueFigures> {
    return (await this.sample()).get(environmentId) ?? NOTHING;
  }

  /** Oldest first. Times at which nobody looked, before the last start for instance, have no point. */
  points(environmentId: EnvironmentId, from: number, to: number): QueuePoint[] {
    const within = this.#slots.filter(({ at }) => at > from - SLOT_MS && at < to);
    const size = Math.ceil(within.length / POINTS_MAX);
    const points: QueuePoint[] = [];
    for (const [index, { at, figures }] of within.entries()) {
      const own = figures.get(environmentId) ?? NOTHING;
      const last = points.at(-1);
      if (index % size > 0 && last) Object.assign(last, highest(last, own));
      else points.push({ at, ...own });
    }
    return points;
  }

  async sample(): Promise<ReadonlyMap<EnvironmentId, QueueFigures>> {
    const found = await this.#depths();
    const slot = this.#slotAt(this.#parts.now());
    for (const [id, figures] of found) slot.figures.set(id, highest(slot.figures.get(id) ?? NOTHING, figures));
    return found;
  }

  #slotAt(at: number): Slot {
    const last = this.#slots.at(-1);
    // A clock that was set back stays in the slot it had reached.
    if (last && at < last.at + SLOT_MS) return last;
    const slot = { at: at - (at % SLOT_MS), figures: new Map() };
    this.#slots.push(slot);
    if (this.#slots.length > SLOTS_MAX) this.#slots.shift();
    return slot;
  }

  async #depths(): Promise<Map<EnvironmentId, QueueFigures>> {
    const depths = await this.#parts.store.queueDepths();
    const now = this.#parts.now();
    return new Map(
      depths.map(({ environmentId, waiting, oldestDueAt }) => [
        environmentId,
        { waiting, oldestAgeMs: oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt) },
      ]),
    );
  }

  #lookAgain(afterMs: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, afterMs).unref();
  }

  async #look(): Promise<void> {
    const begun = performance.now();
    await this.sample().catch((error) => this.#parts.log.debug({ err: error }, "the queue could not be looked at"));
    this.#lookAgain(Math.max(SAMPLE_EVERY_MS, (performance.now() - begun) * REST_PER_LOOK));
  }
}

function highest(a: QueueFigures, b: QueueFigures): QueueFigures {
  return { waiting: Math.max(a.waiting, b.waiting), oldestAgeMs: Math.max(a.oldestAgeMs, b.oldestAgeMs) };
}
