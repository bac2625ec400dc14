/** Updates the shapes of events shortly after the events are stored. If more arrive than can be examined, it samples the newest. */

import { setImmediate } from "node:timers/promises";
import type { EnvironmentId } from "@inlet/protocol";
import type { Logger } from "pino";
import { EventFollower } from "../observe/event-follower.ts";
import { type EventShape, inEachDatabase, type Store, type StoredEvent } from "../store/contract/index.ts";
import { type Drift, type Shape, withEvent } from "./infer-shape.ts";

const EVENTS_AT_ONCE = 100;
/** If it is further behind than this, it skips events. */
const BEHIND_MAX = 2_000;
const DATA_LENGTH_MAX = 65_536;
/** How much data is parsed without a pause. */
const PARSED_LENGTH_MAX = 65_536;
/** Maximum number of shapes per environment: names invented by senders must not fill the store. */
const NAMES_MAX = 1_000;

export interface ShapeObserverParts {
  store: Store;
  /** Called when an event shows something new, before that is stored; called again for the same after a crash in between. */
  onDrift(environmentId: EnvironmentId, eventName: string, drift: Drift): Promise<void>;
  log: Logger;
}

export class ShapeObserver {
  readonly #parts: ShapeObserverParts;
  readonly #follower: EventFollower;

  constructor(parts: ShapeObserverParts) {
    const { store, log } = parts;
    this.#parts = parts;
    const poll = () => inEachDatabase(store, (one) => this.#poll(one));
    this.#follower = new EventFollower({ store, log, poll, what: "shapes of events", everyMs: 1_000, pollsMax: 1, askedMs: 100 });
  }

  start(): void {
    this.#follower.start();
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  catchUp(): Promise<void> {
    return this.#follower.catchUp();
  }

  async get(environmentId: EnvironmentId, name: string): Promise<Shape | null> {
    const [kept] = await this.#parts.store.eventShapeGetMany({ keys: [{ environmentId, name }] });
    return kept ? (JSON.parse(kept.shape) as Shape) : null;
  }

  /** Returns true if there is more to do in this database. */
  async #poll(store: Store): Promise<boolean> {
    const from = await store.eventShapeProgress();
    const wanted = { limit: EVENTS_AT_ONCE, dataLengthMax: DATA_LENGTH_MAX, behindMax: BEHIND_MAX };
    const { events, reached, last } = await store.eventSample({ after: from, ...wanted });
    if (reached > from) await this.#keep(store, { from, reached }, events);
    return reached < last;
  }

  async #keep(store: Store, read: { from: number; reached: number }, events: readonly StoredEvent[]): Promise<void> {
    const { onDrift } = this.#parts;
    const byType = [...Map.groupBy(events.filter(isShaped), ({ environmentId, name }) => `${environmentId} ${name}`).values()];
    const keys = byType.map(([first]) => ({ environmentId: (first as StoredEvent).environmentId, name: (first as StoredEvent).name }));
    const kept = keys.length > 0 ? await store.eventShapeGetMany({ keys }) : [];
    const shapes: EventShape[] = [];
    const pauseAfter = pauses();
    for (const [index, some] of byType.entries()) {
      const key = keys[index] as (typeof keys)[number];
      const known = kept.find(({ environmentId, name }) => environmentId === key.environmentId && name === key.name);
      if (!known && (await store.eventShapeCount(key)) >= NAMES_MAX) continue;
      let shape = known ? (JSON.parse(known.shape) as Shape) : null;
      for (const { id, data, receivedAt } of some) {
        await pauseAfter(data.length);
        const seen = withEvent(shape, { id, data: JSON.parse(data), at: receivedAt });
        shape = seen.shape;
        for (const drift of seen.drift) await onDrift(key.environmentId, key.name, drift);
      }
      shapes.push({ ...key, shape: JSON.stringify(shape) });
    }
    await store.eventShapePut({ ...read, shapes });
  }
}

/** Lets other work run whenever this much data was parsed. */
function pauses(): (length: number) => Promise<void> {
  let parsed = 0;
  return async (length) => {
    parsed += length;
    if (parsed < PARSED_LENGTH_MAX) return;
    parsed = 0;
    await setImmediate();
  };
}

/** Internal events have no shape. */
function isShaped({ source }: StoredEvent): boolean {
  return source.kind !== "internal";
}
