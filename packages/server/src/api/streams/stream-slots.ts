/** Limits open streams, in total and per key, so that no key uses the streams of others. A session counts for its key. */

import { Refusal } from "@inlet/protocol";

const STREAMS_MAX = 500;
const STREAMS_PER_KEY_MAX = 50;

export class StreamSlots {
  readonly #byKey = new Map<string, number>();
  #open = 0;

  /** Takes a slot and returns a function that frees it; a refusal if there is none. */
  take(key: string): (() => void) | Refusal {
    const held = this.#byKey.get(key) ?? 0;
    if (this.#open >= STREAMS_MAX)
      return new Refusal("overloaded", `The service has ${STREAMS_MAX} open streams, the maximum: close one, or try again later.`);
    if (held >= STREAMS_PER_KEY_MAX)
      return new Refusal("overloaded", `This key has ${STREAMS_PER_KEY_MAX} open streams, the maximum: close one, or use another key.`);
    this.#open++;
    this.#byKey.set(key, held + 1);
    return () => this.#give(key);
  }

  #give(key: string): void {
    this.#open--;
    const left = (this.#byKey.get(key) ?? 0) - 1;
    if (left > 0) this.#byKey.set(key, left);
    else this.#byKey.delete(key);
  }
}
