/** What follows a commit: its figures are reported and listeners are called. After a rollback, what was cached of its group is dropped. */

import type { CommitFigures } from "../contract/index.ts";
import { callListeners } from "../shared/call-listeners.ts";

export interface CommitEffectsParts {
  onCommitted?: ((figures: CommitFigures) => void) | undefined;
  /** Called after each commit, before the listeners of events. */
  afterCommit: readonly (() => void)[];
  /** Caches that may contain rows of a group that was rolled back. */
  caches: readonly { forget(): void }[];
}

export class CommitEffects {
  readonly #parts: CommitEffectsParts;
  readonly #watchers = new Set<() => void>();
  #events = 0;

  constructor(parts: CommitEffectsParts) {
    this.#parts = parts;
  }

  /** The group stores this many events. */
  noteEvents(count: number): void {
    this.#events += count;
  }

  /** Calls `listener` after each commit. Returns a function that stops it. */
  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  committed(durationMs: number): void {
    const { onCommitted, afterCommit } = this.#parts;
    const figures = { durationMs, events: this.#events };
    this.#events = 0;
    callListeners(() => onCommitted?.(figures), ...afterCommit, ...this.#watchers);
  }

  rolledBack(): void {
    this.#events = 0;
    for (const cache of this.#parts.caches) cache.forget();
  }
}
