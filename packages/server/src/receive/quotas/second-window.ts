/** How many events were accepted in the last second. The whole allowance of a second may come at once; no second holds more. */

import { SECOND_MS } from "@inlet/protocol";

/** The events of one millisecond. */
export interface Moment {
  at: number;
  events: number;
  /** It has left the window. */
  isOver: boolean;
}

export class SecondWindow {
  #moments: Moment[] = [];
  #sum = 0;

  /** Of the second before `now`. */
  used(now: number): number {
    let gone = 0;
    for (const moment of this.#moments) {
      if (moment.at > now - SECOND_MS) break;
      this.#sum -= moment.events;
      moment.isOver = true;
      gone++;
    }
    if (gone > 0) this.#moments.splice(0, gone);
    return this.#sum;
  }

  add(now: number, events: number): Moment {
    this.used(now);
    this.#sum += events;
    const last = this.#moments.at(-1);
    // A clock that was set back does not put moments out of order.
    if (last && last.at >= now) {
      last.events += events;
      return last;
    }
    const moment = { at: now, events, isOver: false };
    this.#moments.push(moment);
    return moment;
  }

  /** Events that were not stored after all. */
  remove(moment: Moment, events: number): void {
    moment.events -= events;
    if (!moment.isOver) this.#sum -= events;
  }

  /** When as many events as `room` will have left the window; when all have, if there are fewer. */
  freeAt(now: number, room: number): number {
    let left = 0;
    for (const { at, events } of this.#moments) {
      left += events;
      if (left >= room) return at + SECOND_MS;
    }
    return (this.#moments.at(-1)?.at ?? now) + SECOND_MS;
  }
}
