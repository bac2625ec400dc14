/** Reads an archived file, row group by row group: a group is all that is held in memory. */

import { type FileMetaData, parquetMetadataAsync, parquetReadObjects, type RowGroup } from "hyparquet";
import type { ArchivedRow, ArchivedTable } from "../../store/contract/index.ts";
import type { ArchivedFile } from "../targets/archive-target.ts";
import { fromParquet } from "./parquet-values.ts";
import { RowChecksum } from "./row-checksum.ts";

export interface FileGroup {
  rows: number;
  /** The first and last instant of a column of times; null if the file does not say. */
  span(column: string): { first: number; last: number } | null;
  /** Without `columns`: all of them. */
  read(columns?: readonly string[]): Promise<ArchivedRow[]>;
}

const PARSERS = { timestampFromMilliseconds: (ms: bigint) => Number(ms) };

/** In the order of the file. */
export async function groupsOf(table: ArchivedTable, file: ArchivedFile): Promise<FileGroup[]> {
  const metadata = await parquetMetadataAsync(file, { parsers: PARSERS });
  let start = 0;
  return metadata.row_groups.map((group) => {
    const rowStart = start;
    const rows = Number(group.num_rows);
    start += rows;
    return {
      rows,
      span: (column) => spanOf(group, column),
      read: (columns) => readRows(table, file, metadata, { rowStart, rowEnd: rowStart + rows, ...(columns && { columns: [...columns] }) }),
    };
  });
}

/** All rows, in their order. */
export async function* rowsOf(table: ArchivedTable, file: ArchivedFile): AsyncGenerator<ArchivedRow> {
  for (const group of await groupsOf(table, file)) yield* await group.read();
}

/** Count and checksum of what is in the file. */
export async function checksumOf(table: ArchivedTable, file: ArchivedFile): Promise<string> {
  const checksum = new RowChecksum(table);
  for await (const row of rowsOf(table, file)) checksum.add(row);
  return checksum.text();
}

async function readRows(
  table: ArchivedTable,
  file: ArchivedFile,
  metadata: FileMetaData,
  range: { rowStart: number; rowEnd: number; columns?: string[] },
): Promise<ArchivedRow[]> {
  const read = await parquetReadObjects({ file, metadata, parsers: PARSERS, ...range });
  return read.map((row) => fromParquet(table, row));
}

function spanOf({ columns }: RowGroup, name: string): { first: number; last: number } | null {
  const statistics = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === name)?.meta_data?.statistics;
  const [first, last] = [statistics?.min_value, statistics?.max_value];
  return first === undefined || last === undefined ? null : { first: Number(first), last: Number(last) };
}
