/** Reads of one kind that are asked for in the same turn share one statement: those of one environment, which are on one shard. */

import type { EnvironmentId } from "@inlet/protocol";

export class BatchLoader<Key, Value> {
  readonly #loadMany: (keys: Key[]) => Promise<Map<Key, Value>>;
  #waiting = new Map<Key, { resolve(value: Value | null): void; reject(error: unknown): void }[]>();

  constructor(loadMany: (keys: Key[]) => Promise<Map<Key, Value>>) {
    this.#loadMany = loadMany;
  }

  load(key: Key): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.size === 0) setImmediate(() => void this.#run());
      const others = this.#waiting.get(key);
      if (others) others.push({ resolve, reject });
      else this.#waiting.set(key, [{ resolve, reject }]);
    });
  }

  async #run(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = new Map();
    try {
      const values = await this.#loadMany([...waiting.keys()]);
      for (const [key, callers] of waiting) for (const { resolve } of callers) resolve(values.get(key) ?? null);
    } catch (error) {
      for (const callers of waiting.values()) for (const { reject } of callers) reject(error);
    }
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
