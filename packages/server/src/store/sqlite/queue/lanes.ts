/** Caches the numbers that represent lanes in the queue. Cleared when a transaction is rolled back. */

import type { DatabaseSync } from "node:sqlite";

/** There are as many lanes as values of the users' concurrency keys. */
const REMEMBERED_MAX = 10_000;

export class Lanes {
  readonly #numbers = new Map<string, number>();
  readonly #keys = new Map<number, string>();
  readonly #findOrAdd: (key: string) => number;
  readonly #find: (no: number) => string;

  constructor(db: DatabaseSync) {
    const find = db.prepare("SELECT lane_no FROM lanes WHERE key = ?");
    const add = db.prepare("INSERT INTO lanes (key) VALUES (?) RETURNING lane_no");
    const findKey = db.prepare("SELECT key FROM lanes WHERE lane_no = ?");
    this.#findOrAdd = (key) => (find.get(key) ?? add.get(key))?.lane_no as number;
    this.#find = (no) => findKey.get(no)?.key as string;
  }

  no(key: string): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    const no = this.#findOrAdd(key);
    this.#remember(key, no);
    return no;
  }

  key(no: number): string {
    const known = this.#keys.get(no);
    if (known !== undefined) return known;
    const key = this.#find(no);
    this.#remember(key, no);
    return key;
  }

  forget(): void {
    this.#numbers.clear();
    this.#keys.clear();
  }

  #remember(key: string, no: number): void {
    if (this.#numbers.size >= REMEMBERED_MAX) this.forget();
    this.#numbers.set(key, no);
    this.#keys.set(no, key);
  }
}
