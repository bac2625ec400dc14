/** A set of listeners. */

import { callListeners } from "../../shared/call-listeners.ts";

export class Listeners<Listener extends (...values: never[]) => void> {
  readonly #listeners = new Set<Listener>();
  readonly #onChange: () => void;

  /** `onChange` is called when the first listener is added, and when the last is removed. */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Returns a function that removes the listener. */
  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#onChange();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#onChange();
    };
  }

  notify(...values: Parameters<Listener>): void {
    callListeners(...[...this.#listeners].map((listener) => () => listener(...values)));
  }
}
