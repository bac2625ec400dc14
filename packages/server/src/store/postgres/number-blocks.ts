/** Numbers for runs and entries, taken from PostgreSQL in blocks: a node can name rows before they are written. */

import type { Database } from "./database.ts";
import { NotRead } from "./not-read.ts";

const BLOCK = 10_000;

export class NumberBlocks {
  readonly #database: Database;
  readonly #blocks: { next: number; end: number }[] = [];
  #filling: Promise<void> | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  next(): number {
    const block = this.#blocks[0];
    if (!block) throw new NotRead(() => this.#fill());
    // The next block is fetched while this one is used up.
    if (this.#blocks.length === 1 && block.next === block.end - BLOCK / 2) void this.#fill().catch(() => {});
    const no = block.next++;
    if (block.next === block.end) this.#blocks.shift();
    return no;
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#fetch().finally(() => {
      this.#filling = null;
    });
    return this.#filling;
  }

  async #fetch(): Promise<void> {
    const [row] = await this.#database.query<{ block: number }>("SELECT nextval('number_blocks') AS block");
    const end = (row?.block ?? 0) * BLOCK;
    this.#blocks.push({ next: end - BLOCK + 1, end: end + 1 });
  }
}
