/**
 * Parses the footer and the row groups of an archived file. Storage may return anything: what is no file of the table, or says that it has more
 * than any file of the archive has, is refused. The library may still loop or allocate without end for some contents, so only the process of
 * decoder.ts calls it.
 */

import { type AsyncBuffer, type FileMetaData, parquetMetadataAsync, parquetReadObjects, type RowGroup, snappyUncompress } from "hyparquet";
import type { ArchivedRow, ArchivedTable, ArchivedValue } from "../../store/contract/index.ts";
import { COLUMNS, type Column } from "./columns.ts";
import { fromParquet, unknownColumns } from "./parquet-values.ts";

/** Footers of most files: larger ones take a second request. */
const FOOTER_BYTES = 64 * 1024;
/** Groups are written with less than a megabyte, except for single rows, which are as large as a payload or a result may be. */
const READ_BYTES_MAX = 256 * 1024 * 1024;
const GROUP_ROWS_MAX = 100_000;
const PARSERS = { timestampFromMilliseconds: (ms: bigint) => Number(ms) };
const PARSED: ReadonlySet<string> = new Set(["data", "extras", "schema_errors", "event_sequences"]);
const COMPRESSORS = { SNAPPY: uncompressed };

export async function parseFooter(table: ArchivedTable, file: AsyncBuffer): Promise<FileMetaData> {
  const footer = await parquetMetadataAsync(bounded(file), { parsers: PARSERS, initialFetchSize: FOOTER_BYTES });
  // Throws if a column is missing.
  unknownColumns(table, footer.schema);
  for (const group of footer.row_groups) checkGroup(group, footer);
  return footer;
}

/** The rows of a footer's only group. Without `columns`: all of them. */
export async function parseGroup(
  table: ArchivedTable,
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns?: readonly string[],
): Promise<ArchivedRow[]> {
  const options = { metadata, parsers: PARSERS, compressors: COMPRESSORS, ...(columns && { columns: [...columns] }) };
  const read = await parquetReadObjects({ file: bounded(file), ...options });
  let units = 0;
  const expected = COLUMNS[table].filter(({ name }) => !columns || columns.includes(name));
  return read.map((found) => {
    const row = fromParquet(table, found);
    for (const column of expected) checkValue(column, row[column.name] ?? null);
    units += unitsOf(row);
    if (units > READ_BYTES_MAX) throw new Error("it has a group that is too large");
    return row;
  });
}

/** Each group has the columns of the file, in their order. The library relies on it: it reads columns at once, and expects none to be unknown. */
function checkGroup({ columns, num_rows }: RowGroup, { schema: [, ...expected] }: FileMetaData): void {
  if (num_rows < 0 || num_rows > GROUP_ROWS_MAX) throw new Error("it has too many rows in a group");
  const isFlat = expected.every(({ num_children, repetition_type }) => !num_children && repetition_type !== "REPEATED");
  const isWhole = expected.every(({ name }, n) => columns[n]?.meta_data?.path_in_schema.join("\0") === name);
  if (!isFlat || !isWhole || columns.length !== expected.length) throw new Error("its columns are not those of its schema");
}

/** Whoever reads rows relies on their types, and on the JSON that is part of responses or followed. */
function checkValue({ name, type, nullable }: Column, value: ArchivedValue): void {
  if (value === null ? !nullable : typeof value !== (type === "text" || type === "json" ? "string" : "number"))
    throw new Error(`a value of its column "${name}" has another type`);
  if (typeof value === "string" && PARSED.has(name)) JSON.parse(value);
}

function bounded(file: AsyncBuffer): AsyncBuffer {
  return {
    byteLength: file.byteLength,
    async slice(start, end = file.byteLength) {
      if (start < 0 || end > file.byteLength || end - start > READ_BYTES_MAX) throw new Error("it refers to bytes that it cannot have");
      return file.slice(start, end);
    },
  };
}

function uncompressed(input: Uint8Array, bytes: number): Uint8Array {
  if (bytes > READ_BYTES_MAX) throw new Error("it has a page that is too large");
  const output = new Uint8Array(bytes);
  snappyUncompress(input, output);
  return output;
}

function unitsOf(row: ArchivedRow): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0);
}
