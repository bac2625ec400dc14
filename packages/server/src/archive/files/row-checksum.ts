/** Count and checksum of rows in their order: equal for the rows that were to be written and those that are read back. */

import { createHash } from "node:crypto";
import type { ArchivedRow, ArchivedTable } from "../../store/contract/index.ts";
import { COLUMNS } from "./columns.ts";

export class RowChecksum {
  readonly #names: readonly string[];
  readonly #hash = createHash("sha256");
  #rows = 0;

  constructor(table: ArchivedTable) {
    this.#names = COLUMNS[table].map(({ name }) => name);
  }

  add(row: ArchivedRow): void {
    this.#hash.update(JSON.stringify(this.#names.map((name) => row[name] ?? null)));
    this.#rows++;
  }

  get rows(): number {
    return this.#rows;
  }

  /** Ends it. */
  text(): string {
    return `${this.#rows} rows, sha256 ${this.#hash.digest("hex")}`;
  }
}
