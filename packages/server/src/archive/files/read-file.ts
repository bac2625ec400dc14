/**
 * Reads an archived file, row group by row group: a group is all that is held in memory. What cannot be read is ArchiveUnavailable, so that
 * nothing follows from it.
 */

import type { FileMetaData, RowGroup } from "hyparquet";
import type { ArchivedRow, ArchivedTable } from "../../store/contract/index.ts";
import { type ArchivedFile, type ArchiveTarget, ArchiveUnavailable } from "../targets/archive-target.ts";
import type { DecoderProcess } from "./decoder-process.ts";
import { unknownColumns } from "./parquet-values.ts";
import { RowChecksum } from "./row-checksum.ts";

/** Where the files are, and what parses them. */
export interface ArchiveStorage {
  target: ArchiveTarget;
  decoder: DecoderProcess;
}

/** No value of a column is outside of them; they may be wider than the values are. */
export interface Bounds<Value extends number | string = number | string> {
  first: Value;
  last: Value;
}

/** `none`: a column has no values, only nulls. `unknown`: the file does not say. */
export type KnownBounds = Bounds | "none" | "unknown";

export interface FileGroup {
  rows: number;
  bounds(column: string): KnownBounds;
  /** Without `columns`: all of them. */
  read(columns?: readonly string[]): Promise<ArchivedRow[]>;
}

/** Whether one of the values may be within the bounds. */
export function mayHold(bounds: KnownBounds, values: Iterable<number | string>): boolean {
  if (typeof bounds === "string") return bounds === "unknown";
  for (const value of values) if (value >= bounds.first && value <= bounds.last) return true;
  return false;
}

/** In the order of the file. */
export async function groupsOf(decoder: DecoderProcess, table: ArchivedTable, file: ArchivedFile): Promise<FileGroup[]> {
  return groupsBy(decoder, table, file, await footerOf(decoder, table, file));
}

/** All rows, in their order, for those who write them anew: with nothing left out. */
export async function* rowsOf(decoder: DecoderProcess, table: ArchivedTable, file: ArchivedFile): AsyncGenerator<ArchivedRow> {
  const footer = await footerOf(decoder, table, file);
  const [unknown] = unknownColumns(table, footer.schema);
  if (unknown !== undefined)
    throw new ArchiveUnavailable(`${file.name} has a column "${unknown}", which this version of Inlet does not know: a newer one wrote it`);
  for (const group of groupsBy(decoder, table, file, footer)) yield* await group.read();
}

/** Count and checksum of what is in the file. */
export async function checksumOf(decoder: DecoderProcess, table: ArchivedTable, file: ArchivedFile): Promise<string> {
  const checksum = new RowChecksum(table);
  for await (const row of rowsOf(decoder, table, file)) checksum.add(row);
  return checksum.text();
}

async function footerOf(decoder: DecoderProcess, table: ArchivedTable, file: ArchivedFile): Promise<FileMetaData> {
  const result = await decoder.decode(file, { table });
  return "footer" in result ? result.footer : unexpected(file);
}

function groupsBy(decoder: DecoderProcess, table: ArchivedTable, file: ArchivedFile, footer: FileMetaData): FileGroup[] {
  return footer.row_groups.map((group) => ({
    rows: Number(group.num_rows),
    bounds: (column) => boundsOf(group, column),
    read: async (columns) => {
      const metadata = { ...footer, row_groups: [group], num_rows: group.num_rows };
      const result = await decoder.decode(file, { table, group: { metadata, ...(columns && { columns }) } });
      return "rows" in result ? result.rows : unexpected(file);
    },
  }));
}

function unexpected({ name }: ArchivedFile): never {
  throw new ArchiveUnavailable(`${name} cannot be read: its reader gave another result`);
}

function boundsOf({ columns, num_rows }: RowGroup, name: string): KnownBounds {
  const statistics = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data?.statistics;
  if (statistics?.null_count === num_rows) return "none";
  const [first, last] = [statistics?.min_value, statistics?.max_value];
  if (first === undefined || last === undefined) return "unknown";
  return typeof first === "string" ? { first, last: String(last) } : { first: Number(first), last: Number(last) };
}
