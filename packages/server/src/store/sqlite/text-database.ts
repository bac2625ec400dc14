/**
 * A connection whose statements take and return arbitrary text: values are escaped when they are bound and rows when they are read, see
 * `shared/store-text.ts`. Every connection of the store is one of these, so nothing that is stored or searched for can be left out.
 *
 * A statement is compiled when it is first used: the store has hundreds, of which most processes use few.
 */

import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { fromStoreText, toStoreText } from "../shared/store-text.ts";

type Row = Record<string, SQLOutputValue>;

export class TextDatabase extends DatabaseSync {
  override prepare(sql: string): StatementSync {
    return new TextStatement(() => super.prepare(sql)) as unknown as StatementSync;
  }
}

/** Named parameters are one object before all others. */
type Value = SQLInputValue | Record<string, SQLInputValue>;

/** What the store uses of a statement. */
class TextStatement {
  readonly #prepare: () => StatementSync;
  #statement: StatementSync | null = null;
  #columns: readonly string[] | null = null;

  constructor(prepare: () => StatementSync) {
    this.#prepare = prepare;
  }

  run(...values: Value[]): ReturnType<StatementSync["run"]> {
    return this.#prepared().run(...bound(values));
  }

  get(...values: Value[]): Row | undefined {
    const row = this.#prepared().get(...bound(values));
    return row && this.#read(row);
  }

  all(...values: Value[]): Row[] {
    const rows = this.#prepared().all(...bound(values));
    for (const row of rows) this.#read(row);
    return rows;
  }

  *iterate(...values: Value[]): NodeJS.Iterator<Row, undefined> {
    for (const row of this.#prepared().iterate(...bound(values))) yield this.#read(row);
  }

  #prepared(): StatementSync {
    this.#statement ??= this.#prepare();
    return this.#statement;
  }

  /** Changes the row, which nobody else has. */
  #read(row: Row): Row {
    this.#columns ??= Object.keys(row);
    for (const column of this.#columns) {
      const value = row[column];
      if (typeof value === "string") row[column] = fromStoreText(value);
    }
    return row;
  }
}

/** Changes the list, which nobody else has. */
function bound(values: Value[]): SQLInputValue[] {
  for (let n = 0; n < values.length; n++) {
    const value = values[n] as Value;
    if (typeof value === "string") values[n] = toStoreText(value);
    else if (typeof value === "object" && value !== null && !ArrayBuffer.isView(value)) values[n] = boundByName(value);
  }
  return values as SQLInputValue[];
}

function boundByName(values: Record<string, SQLInputValue>): Record<string, SQLInputValue> {
  const copy = { ...values };
  for (const [name, value] of Object.entries(copy)) if (typeof value === "string") copy[name] = toStoreText(value);
  return copy;
}
