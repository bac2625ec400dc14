/** The events of a group, column by column, as write_plain_events takes them: see migrations/007-plain-events.sql. */

import type { EnvironmentId } from "@inlet/protocol";
import { type EventBatch, toStoreText } from "../contract/index.ts";
import { bigintArray, integerArray, textArray } from "./binary-arrays.ts";
import { boundText } from "./bounded-key.ts";
import { nameLock } from "./unit-draft.ts";
import type { Words } from "./words.ts";

export interface NamePlace {
  environmentId: EnvironmentId;
  name: string;
}

export class EventColumns {
  readonly #words: Words;
  readonly #places = new Map<EnvironmentId, Set<string>>();
  readonly #environment: number[] = [];
  readonly #id: string[] = [];
  readonly #name: number[] = [];
  readonly #ts: number[] = [];
  readonly #received: number[] = [];
  readonly #source: number[] = [];
  readonly #extras: (string | null)[] = [];
  readonly #data: string[] = [];
  readonly #dedup: (string | null)[] = [];
  readonly #since: number[] = [];

  constructor(words: Words) {
    this.#words = words;
  }

  add({ environmentId, receivedAt, duplicateSince, events }: EventBatch, sourceNo: number): void {
    const names = this.#places.get(environmentId) ?? new Set();
    this.#places.set(environmentId, names);
    for (const { id, name, ts, extras, data, dedupId } of events) {
      names.add(name);
      this.#environment.push(environmentId);
      this.#id.push(id);
      this.#name.push(this.#words.nameId(name));
      this.#ts.push(ts);
      this.#received.push(receivedAt);
      this.#source.push(sourceNo);
      this.#extras.push(extras);
      this.#data.push(data);
      this.#dedup.push(dedupId);
      this.#since.push(duplicateSince);
    }
  }

  /** The names with these numbers. */
  places(numbers: readonly number[]): NamePlace[] {
    const places = this.#allPlaces();
    return numbers.flatMap((number) => places[number - 1] ?? []);
  }

  parameters(): unknown[] {
    const places = this.#allPlaces();
    return [
      inOrder(places.map(({ environmentId, name }) => BigInt(nameLock(environmentId, name)))),
      integerArray(places.map(({ environmentId }) => environmentId)),
      textArray(places.map(({ name }) => toStoreText(name))),
      integerArray(this.#environment),
      textArray(this.#id),
      integerArray(this.#name),
      bigintArray(this.#ts),
      bigintArray(this.#received),
      integerArray(this.#source),
      this.#extras.some(isThere) ? textArray(this.#extras) : null,
      textArray(this.#data),
      ...(this.#dedup.some(isThere) ? this.#dedupParameters() : [null, null, null]),
    ];
  }

  #dedupParameters(): Buffer[] {
    const kept = this.#dedup.map((id) => (id === null ? null : toStoreText(id)));
    return [textArray(kept), textArray(kept.map((id) => (id === null ? null : boundText(id)))), bigintArray(this.#since)];
  }

  #allPlaces(): NamePlace[] {
    return [...this.#places].flatMap(([environmentId, names]) => [...names].map((name) => ({ environmentId, name })));
  }
}

function isThere(value: string | null): boolean {
  return value !== null;
}

/** In the order of their numbers, as every node takes them. */
function inOrder(locks: readonly bigint[]): bigint[] {
  return locks.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}
