/**
 * Events by environment, name and hour, summed in memory as they are written, until the sums are taken and added to the tables.
 *
 * Sums are never the only record: the tables say up to which sequence number they count, so what a crash or a rollback loses is
 * counted again from the events. Until that has happened nothing is summed here. Noting an event costs some 30 ns; counting it
 * from the table would cost 1 to 3 µs, on another thread but all the same.
 */

import { HOUR_MS } from "../rows/event-type-rows.ts";

export interface EventTypeSum {
  environment_id: number;
  name_id: number;
  hour: number;
  count: number;
  first: number;
  last: number;
}

export class EventTypeSums {
  #sums: EventTypeSum[] = [];
  #byEnvironment = new Map<number, Map<number, EventTypeSum>>();
  #reached = 0;
  #isCurrent = false;

  /** Whether every event the tables do not count is in these sums. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  get isEmpty(): boolean {
    return this.#sums.length === 0;
  }

  note(environmentId: number, nameId: number, receivedAt: number, sequence: number): void {
    if (!this.#isCurrent) return;
    this.#reached = sequence;
    const hour = Math.floor(receivedAt / HOUR_MS);
    const sum = this.#byEnvironment.get(environmentId)?.get(nameId);
    if (sum?.hour !== hour) return this.#begin(environmentId, nameId, hour, receivedAt);
    sum.count++;
    if (receivedAt > sum.last) sum.last = receivedAt;
    else if (receivedAt < sum.first) sum.first = receivedAt;
  }

  /** From now on everything is summed here: the tables count what was written before. */
  begin(): void {
    this.forget();
    this.#isCurrent = true;
  }

  /** Everything summed so far, and the sequence number it reaches to. */
  take(): { sums: EventTypeSum[]; reached: number } {
    const taken = { sums: this.#sums, reached: this.#reached };
    this.#sums = [];
    this.#byEnvironment = new Map();
    return taken;
  }

  forget(): void {
    this.take();
    this.#isCurrent = false;
  }

  /** A new hour begins a new sum; the one before stays in the list. */
  #begin(environmentId: number, nameId: number, hour: number, receivedAt: number): void {
    const sum = { environment_id: environmentId, name_id: nameId, hour, count: 1, first: receivedAt, last: receivedAt };
    const names = this.#byEnvironment.get(environmentId);
    if (names) names.set(nameId, sum);
    else this.#byEnvironment.set(environmentId, new Map([[nameId, sum]]));
    this.#sums.push(sum);
  }
}
