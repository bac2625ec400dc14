/** Collects the runs that a transaction changed and notifies watchers after the commit. Does nothing without watchers. */

import type { RunNo } from "@inlet/protocol";
import { callListeners } from "../../shared/call-listeners.ts";

type Listener = (runNos: readonly RunNo[]) => void;

export class ChangedRuns {
  readonly #listeners = new Set<Listener>();
  readonly #changed = new Set<RunNo>();

  note(runNo: RunNo): void {
    if (this.#listeners.size > 0) this.#changed.add(runNo);
  }

  watch(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(): void {
    if (this.#changed.size === 0) return;
    const runNos = [...this.#changed];
    this.#changed.clear();
    callListeners(...[...this.#listeners].map((listener) => () => listener(runNos)));
  }

  /** Discards changes of a transaction that was rolled back. */
  forget(): void {
    this.#changed.clear();
  }
}
