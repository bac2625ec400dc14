/**
 * Removes old events and runs row by row, where their partition could not be dropped: because a row in it must be kept, or
 * because it has no time range. In a partition that is not past, nothing is removed: it will be dropped later, which costs nothing.
 */

import { DAY_MS, type EnvironmentId } from "@inlet/protocol";
import type { EventRemovalParams, OldestRows, Removal, RemovalParams, RetentionStore, StoredKind } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { eventRemovalLock, LockSet } from "../postgres/locks.ts";
import { maintainPartitions, tablesUntil } from "../postgres/schema/partitions.ts";
import { STORED_ROWS, type StoredRows } from "./policy.ts";

interface WalkRow {
  examined: number;
  removed: number;
  /** Of the last row examined; absent if all environments are scanned together. */
  last_environment?: number | null;
  last: number | null;
  last_at: number | null;
  /** Of the last row in order of receipt, for events. */
  reached_at?: number | null;
  reached_no?: number | null;
  /** Whether one of the events waits to be counted. */
  waits?: boolean | null;
}

/** Beyond every number that is in use. */
const LAST_NUMBER = Number.MAX_SAFE_INTEGER;

/** In storage order. Events that are not counted yet are kept until they are (event-types.ts). */
const REMOVE_EVENTS = (table: string, walk = `FROM ${table} WHERE sequence > $1 ORDER BY sequence LIMIT $2`) => `
  WITH walked AS MATERIALIZED (
    SELECT sequence, environment_id, event_id, name_id, received_at ${walk}
  ), old AS MATERIALIZED (
    SELECT environment_id, event_id FROM walked
    WHERE received_at <= $3 AND sequence <= (SELECT sequence FROM event_types_counted)
      AND NOT EXISTS (
        SELECT FROM runs WHERE runs.environment_id = walked.environment_id AND runs.event_no = walked.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (
        SELECT FROM batched_events AS b JOIN runs USING (environment_id, run_no)
        WHERE b.environment_id = walked.environment_id AND b.event_no = walked.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (SELECT FROM queue WHERE queue.environment_id = walked.environment_id AND queue.event_no = walked.sequence)
      AND NOT EXISTS (SELECT FROM pending_mirrors AS m WHERE m.environment_id = walked.environment_id AND m.event_id = walked.event_id)
      AND NOT EXISTS (
        SELECT FROM resumptions AS r WHERE r.environment_id = walked.environment_id AND r.event_no = walked.sequence
          AND r.event_name = (SELECT name FROM event_names WHERE event_names.name_id = walked.name_id))
      AND NOT EXISTS (
        SELECT FROM queue WHERE queue.environment_id = walked.environment_id AND queue.event_no <= walked.sequence AND queue.kind = 'gather')
  ), gone AS (
    DELETE FROM ${table} AS events USING old
    WHERE events.environment_id = old.environment_id AND events.event_id = old.event_id RETURNING 1
  )
  SELECT count(*) AS examined, (SELECT count(*) FROM gone) AS removed, max(sequence) AS last,
    (SELECT received_at FROM walked ORDER BY sequence DESC LIMIT 1) AS last_at,
    max(received_at) AS reached_at,
    (SELECT sequence FROM walked ORDER BY received_at DESC, sequence DESC LIMIT 1) AS reached_no,
    max(sequence) > (SELECT sequence FROM event_types_counted) AS waits
  FROM walked`;

/** In order of receipt: of one environment, or of one name in it. */
const WALK_ENVIRONMENT =
  "FROM events WHERE environment_id = $5 AND (received_at, sequence) > ($4, $1) ORDER BY received_at, sequence LIMIT $2";
const WALK_NAME = `
  FROM events WHERE environment_id = $5 AND name_id = (SELECT name_id FROM event_names WHERE name = $6) AND (received_at, sequence) > ($4, $1)
  ORDER BY received_at, sequence LIMIT $2`;

/** Environment by environment, in key order. Waits and queue entries were removed when the run ended. */
const REMOVE_RUNS = (table: string, where = "(environment_id, run_no) > ($4, $1)") => `
  WITH walked AS MATERIALIZED (
    SELECT environment_id, run_no, event_nos, created_at, ended_at FROM ${table}
    WHERE ${where} ORDER BY environment_id, run_no LIMIT $2
  ), old AS MATERIALIZED (
    SELECT environment_id, run_no, event_nos FROM walked WHERE ended_at <= $3
  ), gone AS (
    DELETE FROM ${table} AS runs USING old WHERE runs.environment_id = old.environment_id AND runs.run_no = old.run_no RETURNING 1
  ), steps_gone AS (
    DELETE FROM steps USING old WHERE steps.environment_id = old.environment_id AND steps.run_no = old.run_no
  ), attempts_gone AS (
    DELETE FROM failed_attempts AS a USING old WHERE a.environment_id = old.environment_id AND a.run_no = old.run_no
  ), calls_gone AS (
    DELETE FROM calls USING old WHERE calls.environment_id = old.environment_id AND calls.run_no = old.run_no
  ), events_gone AS (
    DELETE FROM batched_events AS b USING old, json_array_elements_text(old.event_nos::json) AS e(event_no)
    WHERE old.event_nos IS NOT NULL AND b.environment_id = old.environment_id AND b.event_no = e.event_no::bigint AND b.run_no = old.run_no
  ), last AS MATERIALIZED (
    SELECT environment_id, run_no, created_at FROM walked ORDER BY environment_id DESC, run_no DESC LIMIT 1
  )
  SELECT (SELECT count(*) FROM walked) AS examined, (SELECT count(*) FROM gone) AS removed, last.environment_id AS last_environment,
    last.run_no AS last, last.created_at AS last_at
  FROM (SELECT 1) AS always LEFT JOIN last ON true`;

/** In which rows are removed, oldest first: that of an index. */
const ORDER: Readonly<Record<StoredKind, string>> = { events: "received_at, sequence", runs: "run_no", requests: "received_at, sequence" };
const OLDEST_ROWS = ({ table, size, time, isRemovable }: StoredRows, order: string) => `
  SELECT count(*) AS rows, max(at) AS until FROM (
    SELECT ${time} AS at, ${size} AS size, sum(${size}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS total
    FROM ${table} WHERE environment_id = $1 AND ${isRemovable}) AS walked
  WHERE total - size < $2::bigint`;

interface Walk {
  statement(table: string): string;
  /** Each environment has its own order. */
  isByEnvironment: boolean;
}

const WALKS: Record<"events" | "runs", Walk> = {
  events: { statement: REMOVE_EVENTS, isByEnvironment: false },
  runs: { statement: REMOVE_RUNS, isByEnvironment: true },
};

export function retentionStore(database: Database): RetentionStore {
  return {
    retentionMaintain: (params) => maintainPartitions(database, params),
    eventExpireMany: ({ environmentId, ...params }) =>
      environmentId === undefined ? remove(database, "events", params) : removeEventsIn(database, environmentId, params),
    runExpireMany: ({ environmentId, ...params }) =>
      environmentId === undefined ? remove(database, "runs", params) : removeRunsIn(database, environmentId, params),
    retentionUsedBytes: () => databaseBytes(database),
    // The server has one log for all its databases, and reuses it.
    retentionFileBytes: () => databaseBytes(database),
    retentionReclaim: async () => true,
    async retentionStoredBytes({ environmentId }) {
      const of = (kind: StoredKind) => storedBytes(database, environmentId, kind);
      return { events: await of("events"), runs: await of("runs"), requests: await of("requests") };
    },
    async retentionOldestRows({ environmentId, kind, bytes }) {
      const [row] = await database.read<OldestRows>(OLDEST_ROWS(STORED_ROWS[kind], ORDER[kind]), [environmentId, Math.ceil(bytes)]);
      return row ?? { rows: 0, until: null };
    },
    async retentionArchiveFailingSince() {
      const [row] = await database.read<{ since: number | null }>("SELECT min(archive_failing_since) AS since FROM time_partitions");
      return row?.since ?? null;
    },
    // Space is freed when a partition is dropped: the oldest partition can be dropped first.
    async retentionOldestAt() {
      const [row] = await database.read<{ day: number | null }>("SELECT min(to_day) AS day FROM time_partitions WHERE from_day > 0");
      return row?.day == null ? null : (row.day - 1) * DAY_MS;
    },
  };
}

/** The statement begins when the lock is held, so it sees every run that was started for an event before. */
function removeEvents(database: Database, statement: string, values: readonly unknown[]): Promise<WalkRow | undefined> {
  const locks = new LockSet();
  locks.add(eventRemovalLock(), "alone");
  return database.transaction(async (client) => {
    const [, { rows }] = await Promise.all([locks.take(client), client.query<WalkRow>(statement, [...values])]);
    return rows[0];
  }, "maintenance");
}

async function removeRuns(database: Database, statement: string, values: readonly unknown[]): Promise<WalkRow | undefined> {
  return (await database.query<WalkRow>(statement, values, "maintenance"))[0];
}

/**
 * A cursor is a partition, a number in it, and the environment if each has its own order. If the last row examined is too
 * young, so are all rows after it in that order.
 */
async function remove(database: Database, kind: keyof typeof WALKS, { until, after, limit }: RemovalParams): Promise<Removal> {
  const { statement, isByEnvironment } = WALKS[kind];
  const tables = await tablesUntil(database, kind, until);
  const [partition, number = "0", environment = "0"] = after?.split(" ") ?? [];
  const table = partition !== undefined && tables.includes(partition) ? partition : tables[0];
  if (table === undefined) return { removed: 0, next: null };
  const [from, ofEnvironment] = table === partition ? [Number(number), Number(environment)] : [-1, 0];
  const values = [from, limit, until, ...(isByEnvironment ? [ofEnvironment] : [])];
  const row = await (kind === "events" ? removeEvents(database, statement(table), values) : removeRuns(database, statement(table), values));
  const { examined = 0, removed = 0, last_environment: lastOf = 0, last = null, last_at = null } = row ?? {};
  const isTooYoung = last_at !== null && last_at > until;
  if (examined === limit && !isTooYoung) return { removed, next: `${table} ${last} ${lastOf}` };
  if (examined === limit && isByEnvironment) return { removed, next: `${table} ${LAST_NUMBER} ${lastOf}` };
  const following = tables[tables.indexOf(table) + 1];
  return { removed, next: following === undefined ? null : `${following} -1` };
}

/** Of one environment: partitions also contain events of others, so old rows are deleted individually everywhere. */
async function removeEventsIn(
  database: Database,
  environmentId: EnvironmentId,
  { name, until, after, limit }: EventRemovalParams,
): Promise<Removal> {
  const [at = -1, no = -1] = after?.split(" ").map(Number) ?? [];
  const named = name === undefined ? [] : [name];
  const statement = REMOVE_EVENTS("events", name === undefined ? WALK_ENVIRONMENT : WALK_NAME);
  const row = await removeEvents(database, statement, [no, limit, until, at, environmentId, ...named]);
  const { examined = 0, removed = 0, reached_at: reachedAt = null, reached_no: reachedNo = null, waits } = row ?? {};
  // Nothing is removed past an event that waits to be counted: the oldest go first.
  const isOver = examined < limit || reachedAt === null || reachedAt > until || waits;
  return { removed, next: isOver ? null : `${reachedAt} ${reachedNo}` };
}

async function removeRunsIn(database: Database, environmentId: EnvironmentId, { until, after, limit }: RemovalParams): Promise<Removal> {
  const statement = REMOVE_RUNS("runs", "environment_id = $4 AND run_no > $1");
  const row = await removeRuns(database, statement, [Number(after ?? -1), limit, until, environmentId]);
  const { examined = 0, removed = 0, last = null, last_at: lastAt = null } = row ?? {};
  const isOver = examined < limit || lastAt === null || lastAt > until;
  return { removed, next: isOver ? null : String(last) };
}

async function databaseBytes(database: Database): Promise<number> {
  const [row] = await database.read<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
  return row?.bytes ?? 0;
}

async function storedBytes(database: Database, environmentId: EnvironmentId, kind: StoredKind): Promise<number> {
  const { table, size } = STORED_ROWS[kind];
  const statement = `SELECT coalesce(sum(${size}), 0)::bigint AS bytes FROM ${table} WHERE environment_id = $1`;
  return (await database.read<{ bytes: number }>(statement, [environmentId]))[0]?.bytes ?? 0;
}
