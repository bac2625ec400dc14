/**
 * Removes old events and runs row by row, where their partition could not be dropped: because something in it must stay, or
 * because it is of no particular time. In a partition that is not past nothing is removed: it will be dropped, which costs nothing.
 */

import type { Removal, RemovalParams, RetentionStore } from "../contract/index.ts";
import type { Database } from "./database.ts";
import { tablesUntil, tendPartitions } from "./partitions.ts";

interface WalkRow {
  looked: number;
  removed: number;
  last: number | null;
  last_at: number | null;
}

/** What is not counted yet is kept until it is (event-types.ts). */
const REMOVE_EVENTS = (table: string) => `
  WITH walked AS MATERIALIZED (
    SELECT sequence, environment_id, event_id, received_at FROM ${table} WHERE sequence > $1 ORDER BY sequence LIMIT $2
  ), old AS MATERIALIZED (
    SELECT environment_id, event_id FROM walked
    WHERE received_at <= $3 AND sequence <= (SELECT sequence FROM event_types_counted)
      AND NOT EXISTS (
        SELECT FROM runs WHERE runs.environment_id = walked.environment_id AND runs.event_no = walked.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (
        SELECT FROM batched_events JOIN runs USING (run_no) WHERE batched_events.event_no = walked.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (SELECT FROM queue WHERE queue.event_no = walked.sequence)
      AND NOT EXISTS (SELECT FROM queue WHERE queue.event_no <= walked.sequence AND queue.kind = 'gather')
  ), gone AS (
    DELETE FROM ${table} AS events USING old
    WHERE events.environment_id = old.environment_id AND events.event_id = old.event_id RETURNING 1
  )
  SELECT count(*) AS looked, (SELECT count(*) FROM gone) AS removed, max(sequence) AS last,
    (SELECT received_at FROM walked ORDER BY sequence DESC LIMIT 1) AS last_at
  FROM walked`;

/** Waits and entries of the queue went when the run ended. */
const REMOVE_RUNS = (table: string) => `
  WITH walked AS MATERIALIZED (
    SELECT run_no, event_nos, created_at, ended_at FROM ${table} WHERE run_no > $1 ORDER BY run_no LIMIT $2
  ), old AS MATERIALIZED (
    SELECT run_no, event_nos FROM walked WHERE ended_at <= $3
  ), gone AS (
    DELETE FROM ${table} AS runs USING old WHERE runs.run_no = old.run_no RETURNING 1
  ), steps_gone AS (
    DELETE FROM steps USING old WHERE steps.run_no = old.run_no
  ), attempts_gone AS (
    DELETE FROM failed_attempts USING old WHERE failed_attempts.run_no = old.run_no
  ), calls_gone AS (
    DELETE FROM calls USING old WHERE calls.run_no = old.run_no
  ), events_gone AS (
    DELETE FROM batched_events USING old, json_array_elements_text(old.event_nos::json) AS e(event_no)
    WHERE old.event_nos IS NOT NULL AND batched_events.event_no = e.event_no::bigint AND batched_events.run_no = old.run_no
  )
  SELECT count(*) AS looked, (SELECT count(*) FROM gone) AS removed, max(run_no) AS last,
    (SELECT created_at FROM walked ORDER BY run_no DESC LIMIT 1) AS last_at
  FROM walked`;

export function retentionStore(database: Database): RetentionStore {
  /** A place is a partition and a number in it. */
  async function remove(kind: "events" | "runs", statement: (table: string) => string, params: RemovalParams): Promise<Removal> {
    const { until, after, limit } = params;
    const tables = await tablesUntil(database, kind, until);
    const [place, number = "0"] = after?.split(" ") ?? [];
    const table = place !== undefined && tables.includes(place) ? place : tables[0];
    if (table === undefined) return { removed: 0, next: null };
    const [row] = await database.query<WalkRow>(statement(table), [table === place ? Number(number) : -1, limit, until]);
    const { looked = 0, removed = 0, last = null, last_at = null } = row ?? {};
    const isDone = looked < limit || last_at === null || last_at > until;
    if (!isDone) return { removed, next: `${table} ${last}` };
    const following = tables[tables.indexOf(table) + 1];
    return { removed, next: following === undefined ? null : `${following} -1` };
  }
  return {
    retentionTend: (params) => tendPartitions(database, params),
    eventExpireMany: (params) => remove("events", REMOVE_EVENTS, params),
    runExpireMany: (params) => remove("runs", REMOVE_RUNS, params),
  };
}
