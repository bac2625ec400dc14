/** Values of rows as Parquet has them, and back. Text is written as the stores write it (store-text.ts): Parquet's is UTF-8, too. */

import type { SchemaElement } from "hyparquet";
import type { ArchivedRow, ArchivedTable, ArchivedValue } from "../../store/contract/index.ts";
import { fromStoreText, toStoreText } from "../../store/shared/store-text.ts";
import { COLUMNS, type Column, type ColumnType } from "./columns.ts";

const PARQUET_TYPES: Readonly<Record<ColumnType, Partial<SchemaElement>>> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  integer: { type: "INT64" },
  time: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  flag: { type: "BOOLEAN" },
};

export function schemaOf(table: ArchivedTable): SchemaElement[] {
  const elements = COLUMNS[table].map(({ name, type, nullable }) => ({
    name,
    repetition_type: nullable ? "OPTIONAL" : "REQUIRED",
    ...PARQUET_TYPES[type],
  }));
  return [{ name: "root", num_children: elements.length }, ...elements] as SchemaElement[];
}

/** Columns of a file that are not in the table. Throws if it lacks one that has no nulls, or has one of another type. */
export function unknownColumns(table: ArchivedTable, [, ...found]: readonly SchemaElement[]): string[] {
  const left = new Map(found.map((element) => [element.name, element]));
  for (const { name, type, nullable } of COLUMNS[table]) {
    const element = left.get(name);
    if (!element && !nullable) throw new Error(`it has no column "${name}"`);
    if (element && element.type !== PARQUET_TYPES[type].type) throw new Error(`its column "${name}" has another type`);
    left.delete(name);
  }
  return [...left.keys()];
}

/** Content is left out of the statistics. */
export function hasStatistics({ name, type }: Column): boolean {
  return type !== "json" || name === "event_sequences";
}

export function toParquet({ type }: Column, value: ArchivedValue): string | bigint | boolean | null {
  if (value === null) return null;
  if (type === "flag") return value === 1;
  return typeof value === "number" ? BigInt(value) : toStoreText(value);
}

/** Rows as they were before they were written. */
export function fromParquet(table: ArchivedTable, read: Record<string, unknown>): ArchivedRow {
  return Object.fromEntries(COLUMNS[table].map(({ name }) => [name, archivedValue(read[name])]));
}

function archivedValue(read: unknown): ArchivedValue {
  if (read === null || read === undefined) return null;
  if (typeof read === "boolean") return read ? 1 : 0;
  return typeof read === "string" ? fromStoreText(read) : Number(read);
}
