/**
 * Writes rows as one Parquet file, row group by row group: a group is all that is held in memory, and small enough that compressing it delays
 * other work by milliseconds.
 */

import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import type { ArchivedRow, ArchivedTable } from "../../store/contract/index.ts";
import type { FileUpload } from "../targets/archive-target.ts";
import { COLUMNS } from "./columns.ts";
import { hasStatistics, schemaOf, toParquet } from "./parquet-values.ts";
import { RowChecksum } from "./row-checksum.ts";

const GROUP_ROWS_MAX = 1_000;
const GROUP_UNITS_MAX = 512 * 1024;
const CREATED_BY = "inlet";

/** The upload has yet to be finished. Returns count and checksum of the rows. */
export async function writeFile(
  table: ArchivedTable,
  rows: AsyncIterable<ArchivedRow>,
  upload: Pick<FileUpload, "append">,
): Promise<string> {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema: schemaOf(table), createdBy: CREATED_BY });
  const checksum = new RowChecksum(table);
  let group: ArchivedRow[] = [];
  let units = 0;
  const flush = async () => {
    if (group.length > 0) await parquet.write({ columnData: columnsOf(table, group), rowGroupSize: group.length });
    [group, units] = [[], 0];
    await upload.append(writer.getBytes());
    // Its offset, which the file's index is made of, goes on.
    writer.index = 0;
  };
  for await (const row of rows) {
    checksum.add(row);
    group.push(row);
    units += unitsOf(row);
    if (group.length >= GROUP_ROWS_MAX || units >= GROUP_UNITS_MAX) await flush();
  }
  await flush();
  await parquet.finish();
  await upload.append(writer.getBytes());
  return checksum.text();
}

function columnsOf(table: ArchivedTable, rows: readonly ArchivedRow[]) {
  return COLUMNS[table].map((column) => ({
    name: column.name,
    data: rows.map((row) => toParquet(column, row[column.name] ?? null)),
    statistics: hasStatistics(column),
  }));
}

function unitsOf(row: ArchivedRow): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 8), 0);
}
