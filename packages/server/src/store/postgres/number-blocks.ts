/** Numbers for runs and entries, taken from PostgreSQL in blocks: a node can name rows before they are written. */

import type { Database } from "./database.ts";
import { NotRead } from "./not-read.ts";
import { dayAt, runBlockStart } from "./run-number.ts";

/** What has numbers of this kind. */
export type Numbered = "runs" | "entries";

const BLOCK = 10_000;

interface Block {
  next: number;
  end: number;
  /** Numbers of runs are those of a day. */
  day: number;
}

export class NumberBlocks {
  readonly #database: Database;
  readonly #of: Numbered;
  #blocks: Block[] = [];
  #filling: Promise<void> | null = null;

  constructor(database: Database, of: Numbered) {
    this.#database = database;
    this.#of = of;
  }

  /** Whether so many can be had without waiting. */
  has(count: number): boolean {
    if (this.#of === "runs") this.#leaveYesterday();
    let left = 0;
    for (const { next, end } of this.#blocks) left += end - next;
    return left >= count;
  }

  next(): number {
    if (this.#of === "runs") this.#leaveYesterday();
    const block = this.#blocks[0];
    if (!block) throw new NotRead(() => this.#fill());
    // The next block is fetched while this one is used up.
    if (this.#blocks.length === 1 && block.next === block.end - BLOCK / 2) void this.#fill().catch(() => {});
    const no = block.next++;
    if (block.next === block.end) this.#blocks.shift();
    return no;
  }

  #leaveYesterday(): void {
    const today = dayAt(this.#database.now());
    if (this.#blocks.some(({ day }) => day < today)) this.#blocks = this.#blocks.filter(({ day }) => day >= today);
  }

  #fill(): Promise<void> {
    this.#filling ??= this.#fetch().finally(() => {
      this.#filling = null;
    });
    return this.#filling;
  }

  async #fetch(): Promise<void> {
    const [row] = await this.#database.query<{ block: number }>("SELECT nextval('number_blocks') AS block");
    const [block, day] = [row?.block ?? 0, dayAt(this.#database.now())];
    const start = this.#of === "runs" ? runBlockStart(day, block, BLOCK) : (block - 1) * BLOCK + 1;
    this.#blocks.push({ next: start, end: start + BLOCK, day });
  }
}
