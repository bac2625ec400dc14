/** Combines single reads into batches: reads requested while a batch is in progress wait for the next one. */

import type { EnvironmentId } from "@inlet/protocol";

const READS_AT_ONCE = 2;
const KEYS_MAX = 500;

/** The outcome of a read: it may leave keys to a further read, but not all of them. Keys in neither do not exist. */
export interface BatchRead<Key, Value> {
  found: ReadonlyMap<Key, Value>;
  left: readonly Key[];
}

export type ReadBatch<Key, Value> = (environmentId: EnvironmentId, keys: readonly Key[]) => Promise<BatchRead<Key, Value>>;

interface Asked<Key, Value> {
  environmentId: EnvironmentId;
  key: Key;
  resolve(value: Value | null): void;
  reject(error: unknown): void;
}

export class BatchedReads<Key, Value> {
  readonly #read: ReadBatch<Key, Value>;
  #waiting: Asked<Key, Value>[] = [];
  #underWay = 0;
  #isScheduled = false;

  /** `read` reads items of one environment. */
  constructor(read: ReadBatch<Key, Value>) {
    this.#read = read;
  }

  /** Null if there is none. The read always starts after this call. */
  load(environmentId: EnvironmentId, key: Key): Promise<Value | null> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ environmentId, key, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0 || this.#underWay >= READS_AT_ONCE) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#readNext();
      this.#schedule();
    });
  }

  async #readNext(): Promise<void> {
    const environmentId = this.#waiting[0]?.environmentId;
    if (environmentId === undefined) return;
    const group = this.#waiting.filter((asked) => asked.environmentId === environmentId).slice(0, KEYS_MAX);
    const taken = new Set(group);
    this.#waiting = this.#waiting.filter((asked) => !taken.has(asked));
    this.#underWay++;
    try {
      const { found, left } = await this.#read(environmentId, [...new Set(group.map(({ key }) => key))]);
      const again = new Set(left);
      this.#waiting.unshift(...group.filter(({ key }) => again.has(key)));
      for (const { key, resolve } of group) if (!again.has(key)) resolve(found.get(key) ?? null);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#underWay--;
    this.#schedule();
  }
}
