/**
 * Removes old events and runs. Numbers grow with time, so the oldest rows come first, and the first row that is too young
 * ends the scan. The newest row of each table is kept: SQLite derives the next number from it, and no number may be reused.
 */

import { statSync } from "node:fs";
import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { setImmediate as nextTick } from "node:timers/promises";
import type { EnvironmentId } from "@inlet/protocol";
import type { EventRemovalParams, OldestRows, Removal, RemovalParams, RetentionStore, StoredKind } from "../contract/index.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import type { Reader } from "../sqlite/reader.ts";
import { STORED_ROWS, type StoredRows } from "./policy.ts";

/** The weight of removing a run in a group: its steps, attempts and calls are removed too. */
const ROWS_PER_RUN = 8;

/** In which rows are removed, oldest first: that of an index. */
const ORDER: Readonly<Record<StoredKind, string>> = { events: "received_at, sequence", runs: "run_id", requests: "received_at, sequence" };
const OLDEST_ROWS = ({ table, size, time, isRemovable }: StoredRows, order: string) => `
  SELECT count(*) AS rows, max(at) AS until FROM (
    SELECT ${time} AS at, ${size} AS size, sum(${size}) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS total
    FROM ${table} WHERE environment_id = ? AND ${isRemovable}) AS walked
  WHERE total - size < ?`;

const SLICE_ROWS = 2_000;
/** An index that begins with the environment has the rows in this order. */
const SLICES: Readonly<Record<StoredKind, { columns: readonly string[]; start: readonly SQLInputValue[] }>> = {
  events: { columns: ["received_at", "sequence"], start: [-1, -1] },
  runs: { columns: ["run_id"], start: [""] },
  requests: { columns: ["webhook_id", "received_at", "sequence"], start: ["", -1, -1] },
};

type OldestRowsParams = Parameters<RetentionStore["retentionOldestRows"]>[0];

interface OldRun {
  run_no: number;
  run_id: string;
  event_nos: string | null;
  created_at: number;
  ended_at: number | null;
}

export function retentionStore(db: DatabaseSync, writer: GroupCommit, reader: Reader): RetentionStore {
  const path = db.location();
  const expireEvents = prepareExpireEvents(db);
  const expireRuns = prepareExpireRuns(db);
  const pages = ["page_count", "freelist_count", "page_size"].map((name) => db.prepare(`PRAGMA ${name}`));
  const readPages = () => {
    const [all = 0, free = 0, size = 0] = pages.map((pragma) => Object.values(pragma.get() ?? {})[0] as number);
    return { all, free, size };
  };
  const logBytes = () => (path === null ? 0 : (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0));
  const oldest = db.prepare(`
    SELECT min(at) AS at FROM (
      SELECT * FROM (
        SELECT received_at AS at FROM events
        WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.event_no = events.sequence AND runs.ended_at IS NULL) ORDER BY sequence LIMIT 1)
      UNION ALL SELECT * FROM (SELECT created_at FROM runs WHERE ended_at IS NOT NULL ORDER BY run_no LIMIT 1)
      UNION ALL SELECT * FROM (SELECT received_at FROM webhook_requests ORDER BY sequence LIMIT 1))`);
  return {
    // One file, no partitions.
    retentionMaintain: async () => {},
    eventExpireMany: (params) => writer.submit(() => expireEvents(params), params.limit),
    runExpireMany: (params) => writer.submit(() => expireRuns(params), params.limit * ROWS_PER_RUN),
    async retentionUsedBytes() {
      const { all, free, size } = readPages();
      return (all - free) * size + logBytes();
    },
    async retentionFileBytes() {
      const { all, size } = readPages();
      return all * size + logBytes();
    },
    async retentionReclaim() {
      const { busy, log, checkpointed } = db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get() as Record<string, number>;
      // A short read only delays that the log begins anew; one that is held keeps what came after it in the log.
      return busy === 0 || (log !== -1 && log === checkpointed);
    },
    retentionStoredBytes: (params) => reader.read("retentionStoredBytes", params),
    retentionOldestRows: (params) => reader.read("retentionOldestRows", params),
    // There are no partitions.
    retentionArchiveFailingSince: async () => null,
    retentionOldestAt: async () => (oldest.get() as { at: number | null }).at,
  };
}

/** In slices, between which other reads get their turn. */
export async function storedBytes(
  db: DatabaseSync,
  { environmentId }: { environmentId: EnvironmentId },
): Promise<Record<StoredKind, number>> {
  const of = (kind: StoredKind) => storedBytesOf(db, environmentId, kind);
  return { events: await of("events"), runs: await of("runs"), requests: await of("requests") };
}

async function storedBytesOf(db: DatabaseSync, environmentId: EnvironmentId, kind: StoredKind): Promise<number> {
  const { table, size } = STORED_ROWS[kind];
  const { columns, start } = SLICES[kind];
  const key = columns.join(", ");
  const bound = columns.map(() => "?").join(", ");
  const after = `FROM ${table} WHERE environment_id = ? AND (${key}) > (${bound})`;
  const lastOfSlice = db.prepare(`SELECT ${key} ${after} ORDER BY ${key} LIMIT 1 OFFSET ${SLICE_ROWS - 1}`);
  const sumOfSlice = db.prepare(`SELECT sum(${size}) AS bytes ${after} AND (${key}) <= (${bound})`);
  const sumOfRest = db.prepare(`SELECT sum(${size}) AS bytes ${after}`);
  let bytes = 0;
  for (let from = start; ; await nextTick()) {
    const last = lastOfSlice.get(environmentId, ...from) as Record<string, SQLInputValue> | undefined;
    const until = columns.map((column) => last?.[column] ?? null);
    const sum = last ? sumOfSlice.get(environmentId, ...from, ...until) : sumOfRest.get(environmentId, ...from);
    bytes += (sum as { bytes: number | null }).bytes ?? 0;
    if (!last) return bytes;
    from = until;
  }
}

export function countOldest(db: DatabaseSync, { environmentId, kind, bytes }: OldestRowsParams): OldestRows {
  return db.prepare(OLDEST_ROWS(STORED_ROWS[kind], ORDER[kind])).get(environmentId, bytes) as unknown as OldestRows;
}

/** In order of receipt for a single environment, otherwise in storage order. */
function prepareExpireEvents(db: DatabaseSync): (params: EventRemovalParams) => Removal {
  const everywhere = db.prepare("SELECT sequence, received_at FROM events WHERE sequence > ? ORDER BY sequence LIMIT ?");
  const inOrder = "(received_at, sequence) > (?1, ?2) ORDER BY received_at, sequence LIMIT ?3";
  const inEnvironment = db.prepare(`SELECT sequence, received_at FROM events WHERE environment_id = ?4 AND ${inOrder}`);
  const ofName = db.prepare(`
    SELECT sequence, received_at FROM events
    WHERE environment_id = ?4 AND name_id = (SELECT name_id FROM event_names WHERE name = ?5) AND ${inOrder}`);
  const counted = db.prepare("SELECT sequence FROM event_types_counted");
  // Events that are not counted yet are kept until they are (event-types.ts).
  const remove = db.prepare(`
    DELETE FROM events WHERE sequence IN (SELECT value FROM json_each(?))
      AND sequence < (SELECT max(sequence) FROM events) AND sequence <= (SELECT sequence FROM event_types_counted)
      AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.event_no = events.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (
        SELECT 1 FROM batched_events CROSS JOIN runs USING (run_no) WHERE batched_events.event_no = events.sequence AND runs.ended_at IS NULL)
      AND NOT EXISTS (SELECT 1 FROM queue WHERE queue.event_no = events.sequence)
      AND NOT EXISTS (SELECT 1 FROM pending_mirrors AS m WHERE m.environment_id = events.environment_id AND m.event_id = events.event_id)
      AND NOT EXISTS (
        SELECT 1 FROM resumptions AS r WHERE r.environment_id = events.environment_id AND r.event_no = events.sequence
          AND r.event_name = (SELECT name FROM event_names WHERE event_names.name_id = events.name_id))
      AND sequence < coalesce((SELECT min(event_no) FROM queue WHERE event_no IS NOT NULL AND kind = 'gather'), ${Number.MAX_SAFE_INTEGER})`);

  return ({ environmentId, name, until, after, limit }) => {
    const [at = -1, no = 0] = after?.split(" ").map(Number) ?? [];
    const some = () => {
      if (environmentId === undefined) return everywhere.all(no, limit);
      if (name === undefined) return inEnvironment.all(at, no, limit, environmentId);
      return ofName.all(at, no, limit, environmentId, name);
    };
    const rows = some() as { sequence: number; received_at: number }[];
    const last = rows.at(-1);
    if (!last) return { removed: 0, next: null };
    const old = rows.filter(({ received_at }) => received_at <= until).map(({ sequence }) => sequence);
    const { changes } = remove.run(JSON.stringify(old));
    // Nothing is removed past an event that waits to be counted: the oldest go first.
    const waits = environmentId !== undefined && rows.some(({ sequence }) => sequence > (counted.get() as { sequence: number }).sequence);
    const isOver = rows.length < limit || last.received_at > until || waits;
    return { removed: Number(changes), next: isOver ? null : `${last.received_at} ${last.sequence}` };
  };
}

function prepareExpireRuns(db: DatabaseSync): (params: RemovalParams) => Removal {
  const removeRun = prepareRemoveRun(db);
  const columns = "SELECT run_no, run_id, event_nos, created_at, ended_at FROM runs";
  const everywhere = db.prepare(`${columns} WHERE run_no > ? ORDER BY run_no LIMIT ?`);
  const inEnvironment = db.prepare(`${columns} WHERE environment_id = ? AND run_id > ? ORDER BY run_id LIMIT ?`);
  const newestRun = db.prepare("SELECT max(run_no) AS newest FROM runs");

  return ({ environmentId, until, after, limit }) => {
    const isEverywhere = environmentId === undefined;
    const found = isEverywhere ? everywhere.all(Number(after ?? 0), limit) : inEnvironment.all(environmentId, after ?? "", limit);
    const rows = found as unknown as OldRun[];
    const { newest } = newestRun.get() as { newest: number | null };
    const old = rows.filter(({ run_no, ended_at }) => ended_at !== null && ended_at <= until && run_no !== newest);
    for (const run of old) removeRun(run);
    const last = rows.at(-1);
    // A run that began later cannot have ended before.
    if (!last || rows.length < limit || last.created_at > until) return { removed: old.length, next: null };
    return { removed: old.length, next: isEverywhere ? String(last.run_no) : last.run_id };
  };
}

/** Waits and queue entries were removed when the run ended. */
function prepareRemoveRun(db: DatabaseSync): (run: OldRun) => void {
  const parts = ["steps", "failed_attempts", "calls", "runs"].map((table) => db.prepare(`DELETE FROM ${table} WHERE run_no = ?`));
  const forgetEvent = db.prepare("DELETE FROM batched_events WHERE event_no = ? AND run_no = ?");
  return ({ run_no, event_nos }) => {
    for (const eventNo of event_nos === null ? [] : (JSON.parse(event_nos) as number[])) forgetEvent.run(eventNo, run_no);
    for (const part of parts) part.run(run_no);
  };
}
