/** Those who watch for something. */

export class Listeners<Listener extends (...values: never[]) => void> {
  readonly #listeners = new Set<Listener>();
  readonly #onChange: () => void;

  /** `onChange` is told when the first comes, and when the last has gone. */
  constructor(onChange: () => void = () => {}) {
    this.#onChange = onChange;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Returns how to stop it. */
  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#onChange();
    return () => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#onChange();
    };
  }

  notify(...values: Parameters<Listener>): void {
    for (const listener of this.#listeners) listener(...values);
  }
}
