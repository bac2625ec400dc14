/**
 * Reads of one kind share statements: those of one environment, which are on one shard. What is asked for in the same turn, or while as
 * many statements are under way as there may be, goes with the next.
 */

import type { EnvironmentId } from "@inlet/protocol";

const STATEMENTS_AT_ONCE = 2;

export class BatchLoader<Key, Value> {
  readonly #loadMany: (keys: Key[]) => Promise<Map<Key, Value>>;
  #waiting = new Map<Key, { resolve(value: Value | null): void; reject(error: unknown): void }[]>();
  #underWay = 0;
  #isScheduled = false;

  constructor(loadMany: (keys: Key[]) => Promise<Map<Key, Value>>) {
    this.#loadMany = loadMany;
  }

  load(key: Key): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      const others = this.#waiting.get(key);
      if (others) others.push({ resolve, reject });
      else this.#waiting.set(key, [{ resolve, reject }]);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.size === 0 || this.#underWay >= STATEMENTS_AT_ONCE) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    this.#underWay++;
    try {
      const values = await this.#loadMany([...waiting.keys()]);
      for (const [key, callers] of waiting) for (const { resolve } of callers) resolve(values.get(key) ?? null);
    } catch (error) {
      for (const callers of waiting.values()) for (const { reject } of callers) reject(error);
    }
    this.#underWay--;
    this.#schedule();
  }
}

export class EnvironmentLoaders<Key, Value> {
  readonly #loadMany: (environmentId: EnvironmentId, keys: Key[]) => Promise<Map<Key, Value>>;
  readonly #loaders = new Map<EnvironmentId, BatchLoader<Key, Value>>();

  constructor(loadMany: (environmentId: EnvironmentId, keys: Key[]) => Promise<Map<Key, Value>>) {
    this.#loadMany = loadMany;
  }

  load(environmentId: EnvironmentId, key: Key): Promise<Value | null> {
    const loader = this.#loaders.get(environmentId) ?? new BatchLoader((keys: Key[]) => this.#loadMany(environmentId, keys));
    this.#loaders.set(environmentId, loader);
    return loader.load(key);
  }
}
