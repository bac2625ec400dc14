/**
 * Rows of a file that exists and rows of a partition, as one sequence in their order. A file of the same day exists after a crash, or if
 * the day's rows stood in several partitions or databases. Of a row that both have, the partition's is taken: it is the newer one.
 */

import type { ArchivedRow, ArchivedTable } from "../../store/contract/index.ts";

const ORDER: Readonly<Record<ArchivedTable, readonly string[]>> = {
  events: ["received_at", "sequence"],
  runs: ["run_no"],
  steps: ["run_no", "step_id"],
};

export async function* mergeRows(
  table: ArchivedTable,
  older: AsyncIterable<ArchivedRow>,
  newer: AsyncIterable<ArchivedRow>,
): AsyncGenerator<ArchivedRow> {
  const [left, right] = [older[Symbol.asyncIterator](), newer[Symbol.asyncIterator]()];
  let [one, other] = [await left.next(), await right.next()];
  while (!one.done || !other.done) {
    const order = one.done ? 1 : other.done ? -1 : compareRows(table, one.value, other.value);
    yield (order < 0 ? one.value : other.value) as ArchivedRow;
    if (order <= 0) one = await left.next();
    if (order >= 0) other = await right.next();
  }
}

export function compareRows(table: ArchivedTable, one: ArchivedRow, other: ArchivedRow): number {
  for (const column of ORDER[table]) {
    const [a, b] = [one[column] ?? 0, other[column] ?? 0];
    // The order of bytes, which PostgreSQL sorts such columns by.
    const order = typeof a === "number" ? a - Number(b) : Buffer.compare(Buffer.from(a), Buffer.from(String(b)));
    if (order !== 0) return order;
  }
  return 0;
}
