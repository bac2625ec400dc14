/**
 * Runs that wait for a place among those of their function. Whenever a run comes to a gate, or one that holds a place may have
 * ended, the store is asked to give away what is free. All that is remembered here is which gates to ask for: places and those
 * who wait for them are in the store.
 */

import type { RunNo } from "@inlet/protocol";
import type { PlaceStore, RunStore } from "../../store/contract/index.ts";

export interface GateRule {
  /** What is counted: runs that hold a place with this name. */
  place: string;
  cap: number;
  /** The lane in which runs go on that have their place. */
  home: string;
}

export interface GatesParts {
  store: Pick<PlaceStore, "placeGrantMany"> & Pick<RunStore, "runWatch">;
  /** Null for a lane that is no gate. */
  gateOf(lane: string): GateRule | null;
  now(): number;
}

/** How long the store is left alone when it could not be asked. */
const RETRY_MS = 1_000;

/** Known while runs wait for it. */
interface Place {
  name: string;
  cap: number;
  /** Where runs wait, and where they go on. */
  gates: Map<string, string>;
  holders: ReadonlySet<RunNo>;
  isAsking: boolean;
  /** Somebody came to a gate since the store was asked. */
  wasNoted: boolean;
  /** Runs that changed since then: one of them may turn out to be a holder. */
  changed: Set<RunNo>;
}

export class Gates {
  readonly #parts: GatesParts;
  readonly #places = new Map<string, Place>();
  #stopWatching: (() => void) | null = null;
  #isStopped = false;

  constructor(parts: GatesParts) {
    this.#parts = parts;
  }

  isGate(lane: string): boolean {
    return this.#parts.gateOf(lane) !== null;
  }

  /** Runs wait at this gate. */
  note(lane: string): void {
    const rule = this.#parts.gateOf(lane);
    if (!rule || this.#isStopped) return;
    const place = this.#place(rule);
    place.gates.set(lane, rule.home);
    place.wasNoted = true;
    void this.#ask(place);
  }

  /** Functions were registered: there may be more places now, or other ones. */
  refresh(): void {
    const lanes = [...this.#places.values()].flatMap(({ gates }) => [...gates.keys()]);
    this.#places.clear();
    for (const lane of lanes) this.note(lane);
  }

  stop(): void {
    this.#isStopped = true;
    this.#stopWatching?.();
  }

  #place({ place: name, cap }: GateRule): Place {
    const known = this.#places.get(name);
    if (known) return known;
    const place: Place = { name, cap, gates: new Map(), holders: new Set(), isAsking: false, wasNoted: false, changed: new Set() };
    this.#places.set(name, place);
    this.#stopWatching ??= this.#parts.store.runWatch((runNos) => this.#noteChanged(runNos));
    return place;
  }

  #noteChanged(runNos: readonly RunNo[]): void {
    for (const place of this.#places.values()) {
      if (place.isAsking) for (const runNo of runNos) place.changed.add(runNo);
      else if (runNos.some((runNo) => place.holders.has(runNo))) void this.#ask(place);
    }
  }

  async #ask(place: Place): Promise<void> {
    if (place.isAsking) return;
    place.isAsking = true;
    try {
      while (!this.#isStopped && (await this.#grant(place)));
    } catch {
      setTimeout(() => void this.#ask(place), RETRY_MS).unref();
      return;
    } finally {
      place.isAsking = false;
    }
    if (place.gates.size === 0) this.#forget(place);
  }

  /** Says whether to ask again at once. */
  async #grant(place: Place): Promise<boolean> {
    place.wasNoted = false;
    place.changed.clear();
    const { name, cap, gates } = place;
    const asked = [...gates].map(([lane, home]) => ({ lane, home }));
    const { holders, waiting, more } = await this.#parts.store.placeGrantMany({ place: name, cap, gates: asked, now: this.#parts.now() });
    place.holders = new Set(holders);
    if (place.wasNoted) return true;
    for (const { lane } of asked) if (!waiting.includes(lane)) gates.delete(lane);
    return more || holders.some((runNo) => place.changed.has(runNo));
  }

  /** That runs change is told only while somebody listens: it costs something. */
  #forget(place: Place): void {
    if (this.#places.get(place.name) === place) this.#places.delete(place.name);
    if (this.#places.size > 0) return;
    this.#stopWatching?.();
    this.#stopWatching = null;
  }
}
