/**
 * Reads a partition for the archive, day by day and environment by environment, in bounded parts. From before the first part until the
 * partition is dropped, a trigger notes each change of its rows: what was changed after it was read is read once more, and only the attempt
 * that began last may drop the partition.
 */

import { randomUUID } from "node:crypto";
import { DAY_MS, type EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { ArchivedDay, ArchivedRow, ArchivedTable } from "../../contract/index.ts";
import { dayAt, firstRunNumber } from "../../runs/postgres/run-number.ts";
import type { Database } from "../database.ts";
import { rowsWithin } from "../rows-within.ts";

export type ArchivedKind = "events" | "runs";

/** The tables of a kind that are archived. */
export const ARCHIVED: Readonly<Record<ArchivedKind, readonly ArchivedTable[]>> = { events: ["events"], runs: ["runs", "steps"] };

export interface OldPartition {
  kind: ArchivedKind;
  fromDay: number;
  /** The partition of a table. */
  name(table: string): string;
}

const ROWS_PER_READ = 500;
const BYTES_PER_READ = 1024 * 1024;

/** In a transaction that has `lock_timeout` set: a trigger waits for those who write the partition. Returns the attempt. */
export async function beginAttempt(client: PoolClient, { kind, fromDay, name }: OldPartition): Promise<string> {
  for (const table of ARCHIVED[kind]) {
    await client.query(`DROP TRIGGER IF EXISTS archive_guard ON ${name(table)}`);
    await client.query(
      `CREATE TRIGGER archive_guard AFTER INSERT OR UPDATE OR DELETE ON ${name(table)}
       FOR EACH ROW EXECUTE FUNCTION note_partition_change('${kind}', '${fromDay}')`,
    );
  }
  const attempt = randomUUID();
  await client.query("DELETE FROM partition_changes WHERE kind = $1 AND from_day = $2", [kind, fromDay]);
  await client.query("UPDATE time_partitions SET archive_attempt = $3 WHERE kind = $1 AND from_day = $2", [kind, fromDay, attempt]);
  return attempt;
}

/** `failedAt`: null if the archive has taken the partition. */
export async function noteOutcome(database: Database, { kind, fromDay }: OldPartition, failedAt: number | null): Promise<void> {
  await database.query(
    `UPDATE time_partitions SET archive_failing_since = CASE WHEN $3::bigint IS NOT NULL THEN coalesce(archive_failing_since, $3) END
     WHERE kind = $1 AND from_day = $2`,
    [kind, fromDay, failedAt],
    "maintenance",
  );
}

/** Whether the partition is as this attempt read it. In a transaction that has locked the partition. */
export async function isUnchanged(client: PoolClient, { kind, fromDay }: OldPartition, attempt: string): Promise<boolean> {
  const { rows } = await client.query<{ unchanged: boolean }>(
    `SELECT NOT EXISTS (SELECT FROM partition_changes AS c WHERE c.kind = p.kind AND c.from_day = p.from_day) AS unchanged
     FROM time_partitions AS p WHERE kind = $1 AND from_day = $2 AND archive_attempt = $3`,
    [kind, fromDay, attempt],
  );
  return rows[0]?.unchanged === true;
}

/**
 * Whatever is archived of a partition: environments in ascending order, each with its days. Rows of an environment that has left, or that
 * arrives, are copies: the database where it is archives them, as they are there. What was erased there is still in the copies.
 */
export async function* daysOfPartition(database: Database, partition: OldPartition): AsyncGenerator<ArchivedDay> {
  const name = partition.name(partition.kind);
  for (let after = -1; ; ) {
    const [row] = await read<{ environment_id: number }>(
      database,
      `SELECT environment_id FROM ${name} WHERE environment_id > $1
         AND environment_id <> ALL (ARRAY(SELECT m.environment_id FROM moving_environments AS m WHERE m.role IN ('left', 'arriving')))
       ORDER BY environment_id LIMIT 1`,
      [after],
    );
    if (!row) return;
    after = row.environment_id;
    yield* daysOfEnvironment(database, partition, row.environment_id as EnvironmentId);
  }
}

async function* daysOfEnvironment(database: Database, partition: OldPartition, environmentId: EnvironmentId): AsyncGenerator<ArchivedDay> {
  const { kind, name } = partition;
  const { column, dayOf, firstOf } = DAYS[kind];
  if (kind === "runs") yield* daysOfCopiedRuns(database, partition, environmentId);
  for (let from = firstOf(kind === "runs" ? 1 : 0); ; ) {
    const [row] = await read<{ first: number }>(
      database,
      `SELECT ${column} AS first FROM ${name(kind)} WHERE environment_id = $1 AND ${column} >= $2 ORDER BY ${column} LIMIT 1`,
      [environmentId, from],
    );
    if (!row) return;
    const day = dayOf(row.first);
    from = firstOf(day + 1);
    const bounds = [environmentId, firstOf(day), from] as const;
    for (const table of ARCHIVED[kind]) yield { table, environmentId, day, rows: () => rowsOfDay(database, table, name, bounds) };
  }
}

/**
 * Runs that were copied from an embedded store have its numbers, which are below those of any day: their day is the one on which they were
 * created. They were numbered in the order of their creation, so that the runs of a day are in few spans of numbers.
 */
async function* daysOfCopiedRuns(database: Database, { name }: OldPartition, environmentId: EnvironmentId): AsyncGenerator<ArchivedDay> {
  const spans = await read<Span>(database, copiedSpans(name("runs")), [environmentId, firstRunNumber(1)]);
  for (const [day, ofDay] of Map.groupBy(spans, (span) => span.day)) {
    for (const table of ARCHIVED.runs)
      yield { table, environmentId, day, rows: () => rowsOfSpans(database, table, name, environmentId, ofDay) };
  }
}

/** Runs of one day whose numbers are from `first` to before `next`. */
interface Span extends Record<string, number> {
  day: number;
  first: number;
  next: number;
}

/** $2: the number above all of them. */
function copiedSpans(runs: string): string {
  return `
    SELECT day, first, coalesce(lead(first) OVER (ORDER BY first), $2) AS next
    FROM (
      SELECT run_no AS first, created_at / ${DAY_MS} AS day, lag(created_at / ${DAY_MS}) OVER (ORDER BY run_no) AS day_before
      FROM ${runs} WHERE environment_id = $1 AND run_no < $2) AS numbered
    WHERE day IS DISTINCT FROM day_before ORDER BY day, first`;
}

async function* rowsOfSpans(
  database: Database,
  table: ArchivedTable,
  name: OldPartition["name"],
  environmentId: EnvironmentId,
  spans: readonly Span[],
): AsyncGenerator<ArchivedRow> {
  for (const { first, next } of spans) yield* rowsOfDay(database, table, name, [environmentId, first, next]);
}

/** The day of an event is the one on which it was received, of a run the one in its number. */
const DAYS: Readonly<Record<ArchivedKind, { column: string; dayOf(value: number): number; firstOf(day: number): number }>> = {
  events: { column: "received_at", dayOf: dayAt, firstOf: (day) => day * DAY_MS },
  runs: { column: "run_no", dayOf: (runNo) => Math.floor(runNo / firstRunNumber(1)), firstOf: firstRunNumber },
};

interface Reading {
  /** $1: the environment, $2 and $3: the bounds of the day, then the key of the last row. */
  select(name: (table: string) => string): string;
  key: readonly string[];
  /** Before the first row. */
  start: readonly (number | string)[];
  bytes: string;
}

const READINGS: Readonly<Record<ArchivedTable, Reading>> = {
  events: {
    select: (name) => `
      SELECT sequence, event_id, name, ts, received_at, dedup_id, source_kind, source_id, source_run_id, duplicates, matched, trace, extras,
        schema_errors, data
      FROM (SELECT * FROM ${name("events")} WHERE environment_id = $1 AND received_at >= $2 AND received_at < $3
        AND (received_at, sequence) > ($4, $5) ORDER BY received_at, sequence LIMIT ${ROWS_PER_READ}) AS e
      JOIN event_names USING (name_id) JOIN event_sources USING (source_no)`,
    key: ["received_at", "sequence"],
    start: [-1, -1],
    bytes: "octet_length(data) + coalesce(octet_length(extras), 0)",
  },
  runs: {
    select: (name) => `
      SELECT run_no, run_id, function_id, status, event_no AS event_sequence, event_nos AS event_sequences, r.created_at, started_at, ended_at,
        cron, original_run_id, job_id, invoker_run_no, order_key, cancel_event_id, output, error
      FROM (SELECT * FROM ${name("runs")} WHERE environment_id = $1 AND run_no >= $2 AND run_no < $3 AND run_no > $4
        ORDER BY run_no LIMIT ${ROWS_PER_READ}) AS r
      JOIN functions USING (environment_id, function_no)`,
    key: ["run_no"],
    start: [-1],
    bytes: "coalesce(octet_length(output), 0) + coalesce(octet_length(error), 0)",
  },
  steps: {
    select: (name) => `
      SELECT run_no, run_id, step_id, kind, s.name, s.status, position, s.started_at, s.ended_at, attempts, event_id, value
      FROM (SELECT * FROM ${name("steps")} WHERE environment_id = $1 AND run_no >= $2 AND run_no < $3 AND (run_no, step_id) > ($4, $5)
        ORDER BY run_no, step_id LIMIT ${ROWS_PER_READ}) AS s
      JOIN ${name("runs")} AS r USING (environment_id, run_no)`,
    key: ["run_no", "step_id"],
    start: [-1, ""],
    bytes: "coalesce(octet_length(value), 0)",
  },
};

async function* rowsOfDay(
  database: Database,
  table: ArchivedTable,
  name: OldPartition["name"],
  bounds: readonly number[],
): AsyncGenerator<ArchivedRow> {
  const { select, key, start, bytes } = READINGS[table];
  const statement = `${rowsWithin(`(${select(name)})`, key.join(", "), bytes, BYTES_PER_READ)} ORDER BY ${key.join(", ")}`;
  for (let after: readonly unknown[] = start; ; ) {
    const rows = await read<Record<string, string | number | null>>(database, statement, [...bounds, ...after]);
    const last = rows.at(-1);
    if (!last) return;
    for (const { bytes_before: _, rows_found: __, ...row } of rows) yield row;
    after = key.map((column) => last[column]);
  }
}

function read<Row extends Record<string, unknown>>(database: Database, statement: string, values: readonly unknown[]): Promise<Row[]> {
  return database.query<Row>(statement, values, "maintenance");
}
