/**
 * Keeps the shapes of events close behind the events: every second while some come in, and whenever somebody asks. Accepting an event
 * costs nothing for it. Where more come than are looked at, the newest of them are: shapes are of a sample then.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { EventShape, EventShapeStore, EventStore, StoredEvent } from "../store/contract/index.ts";
import { type Drift, type Shape, withEvent } from "./infer-shape.ts";

const LOOK_EVERY_MS = 1_000;
const EVENTS_AT_ONCE = 100;
/** Further behind than this, events are passed over. */
const BEHIND_MAX = 2_000;
const DATA_LENGTH_MAX = 65_536;
/** What a person who asks waits for at most, beside one look. */
const ASKED_MS = 100;
/** Of one environment: names that senders make up must not fill the store. */
const NAMES_MAX = 1_000;

export interface ShapeObserverParts {
  store: EventShapeStore & Pick<EventStore, "eventWatch">;
  /** Something about an event was new. Called before it is kept, and again for the same after a crash in between. */
  onDrift(environmentId: EnvironmentId, eventName: string, drift: Drift): Promise<void>;
  log: Logger;
}

export class ShapeObserver {
  readonly #parts: ShapeObserverParts;
  #timer: NodeJS.Timeout | null = null;
  #unwatch: (() => void) | null = null;
  #isBehind = true;
  #looking: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: ShapeObserverParts) {
    this.#parts = parts;
  }

  start(): void {
    const { store, log } = this.#parts;
    this.#unwatch ??= store.eventWatch(() => {
      this.#isBehind = true;
    });
    this.#timer ??= setInterval(() => {
      this.#look().catch((error) => log.warn({ err: error }, "shapes of events could not be kept"));
    }, LOOK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#timer) clearInterval(this.#timer);
    this.#unwatch?.();
    await this.#looking.catch(() => undefined);
  }

  /** Looks at what came in, as far as that goes in a moment. */
  async catchUp(): Promise<void> {
    const deadline = Date.now() + ASKED_MS;
    while ((await this.#look()) && Date.now() < deadline);
  }

  async get(environmentId: EnvironmentId, name: string): Promise<Shape | null> {
    const [kept] = await this.#parts.store.eventShapeGetMany({ keys: [{ environmentId, name }] });
    return kept ? (JSON.parse(kept.shape) as Shape) : null;
  }

  /** One look at a time. True when there is more. */
  #look(): Promise<boolean> {
    const looked = this.#looking.catch(() => undefined).then(() => this.#lookOnce());
    this.#looking = looked;
    return looked;
  }

  async #lookOnce(): Promise<boolean> {
    if (!this.#isBehind || this.#stopped) return false;
    const { store } = this.#parts;
    this.#isBehind = false;
    const from = await store.eventShapeProgress();
    const next = await store.eventSample({ after: from, limit: EVENTS_AT_ONCE, dataLengthMax: DATA_LENGTH_MAX });
    const isFarBehind = next.last - next.reached > BEHIND_MAX;
    const { events, reached, last } = isFarBehind
      ? await store.eventSample({ after: next.last - EVENTS_AT_ONCE, limit: EVENTS_AT_ONCE, dataLengthMax: DATA_LENGTH_MAX })
      : next;
    if (reached > from) await this.#keep(from, reached, events);
    this.#isBehind ||= reached < last;
    return this.#isBehind;
  }

  async #keep(from: number, reached: number, events: readonly StoredEvent[]): Promise<void> {
    const { store, onDrift } = this.#parts;
    const byType = [...Map.groupBy(events.filter(isShaped), ({ environmentId, name }) => `${environmentId} ${name}`).values()];
    const keys = byType.map(([first]) => ({ environmentId: (first as StoredEvent).environmentId, name: (first as StoredEvent).name }));
    const kept = keys.length > 0 ? await store.eventShapeGetMany({ keys }) : [];
    const shapes: EventShape[] = [];
    for (const [index, some] of byType.entries()) {
      const key = keys[index] as (typeof keys)[number];
      const known = kept.find(({ environmentId, name }) => environmentId === key.environmentId && name === key.name);
      if (!known && (await store.eventShapeCount(key)) >= NAMES_MAX) continue;
      let shape = known ? (JSON.parse(known.shape) as Shape) : null;
      for (const { id, data, receivedAt } of some) {
        const seen = withEvent(shape, { id, data: JSON.parse(data), at: receivedAt });
        shape = seen.shape;
        for (const drift of seen.drift) await onDrift(key.environmentId, key.name, drift);
      }
      shapes.push({ ...key, shape: JSON.stringify(shape) });
    }
    await store.eventShapePut({ from, reached, shapes });
  }
}

/** What the service itself sends has no shape of anybody's. */
function isShaped({ source }: StoredEvent): boolean {
  return source.kind !== "internal";
}
