/** Claiming, renewing and recovering queue entries in PostgreSQL. */

import type { EntryNo, EnvironmentId, LeaseId, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { type LeasedEntry, type ProbePhase, type QueueStore, StoreUnavailable, TIMER_LANE } from "../../contract/index.ts";
import { heldCallStore } from "../../held-calls/postgres.ts";
import { freeSlots } from "../../limits/postgres.ts";
import { leaveOrder } from "../../orders/postgres.ts";
import type { Database } from "../../postgres/database.ts";
import { notFenced } from "../../postgres/fenced.ts";
import { type Notices, noNotices, noteLane } from "../../postgres/pending-writes.ts";
import { claimEntries } from "./claim-entries.ts";
import { LANE_WALK } from "./lane-walk.ts";
import { queueDepths, queueFunctionDepths } from "./queue-depths.ts";
import { queuedCall } from "./queued-call.ts";

const LANES_IN_USE = `
  ${LANE_WALK}
  SELECT lane FROM walk
  UNION ALL
  SELECT '${TIMER_LANE}' WHERE EXISTS (SELECT FROM queue WHERE queue.lane = '${TIMER_LANE}')`;

/** Bounds a statement: a transaction that finishes one of its entries waits for the whole statement. */
const RENEWED_AT_ONCE = 500;
/** The rows are locked in the order of their numbers, as everywhere. */
const HELD = `
  SELECT q.environment_id, q.entry_no FROM unnest($1::integer[], $2::bigint[], $3::text[]) AS held(environment_id, entry_no, lease_id)
  JOIN queue AS q USING (environment_id, entry_no) WHERE q.lease_id = held.lease_id ORDER BY q.entry_no FOR UPDATE OF q`;
const isHeld = "FROM held WHERE queue.environment_id = held.environment_id AND queue.entry_no = held.entry_no";
/** The rank of an entry that is due at this time: in the lane of timers the time, elsewhere its own. */
const rankAt = (time: string) => `CASE lane WHEN '${TIMER_LANE}' THEN ${time} ELSE rank END`;
const RENEW = `
  WITH held AS MATERIALIZED (${HELD}) UPDATE queue SET rank = ${rankAt("$4")}, due_at = $4 ${isHeld} RETURNING queue.lease_id`;
const RELEASE = `
  WITH held AS MATERIALIZED (${HELD})
  UPDATE queue SET rank = ${rankAt("$4")}, due_at = $4, lease_id = NULL, leased_by = NULL, claims = greatest(claims - 1, 0) ${isHeld}
  RETURNING queue.environment_id, queue.entry_no, queue.run_no, queue.lane`;
const RESCHEDULE = `
  WITH held AS MATERIALIZED (${HELD})
  UPDATE queue SET lane = '${TIMER_LANE}', rank = $4, due_at = $4, lease_id = NULL, leased_by = NULL ${isHeld}
  RETURNING queue.environment_id, queue.entry_no, queue.run_no, queue.lane`;
const REMOVE = `
  DELETE FROM queue WHERE environment_id = ANY ($1::integer[]) AND entry_no = ANY ($2::bigint[]) AND lease_id = ANY ($3::text[])
  RETURNING environment_id, entry_no, run_no, lane`;
const NEXT_DUE = `SELECT min(rank) AS due FROM queue WHERE lane = '${TIMER_LANE}' AND ${notFenced("environment_id")}`;
const PROBE_COLUMNS: Readonly<Record<ProbePhase, string>> = { calling: "calling_probes", concluding: "concluding_probes" };
const setProbes = (phase: ProbePhase, value: string) => `
  UPDATE queue SET ${PROBE_COLUMNS[phase]} = ${value} WHERE environment_id = $1 AND entry_no = $2 AND lease_id = $3`;
const RECOVER = `
  UPDATE queue SET rank = ${rankAt("$2")}, due_at = $2, lease_id = NULL, leased_by = NULL WHERE leased_by = $1
  RETURNING environment_id, entry_no, run_no, lane`;

interface ReleasedRow {
  environment_id: EnvironmentId;
  entry_no: EntryNo;
  run_no: RunNo | null;
  lane: string;
}

export interface QueueParts {
  database: Database;
  notify(notices: Notices): void;
  watch: QueueStore["queueWatch"];
  watchLimits: QueueStore["limitWatch"];
}

export function queueStore({ database, notify, watch, watchLimits }: QueueParts): QueueStore {
  const claimMany: QueueStore["queueClaimMany"] = async (params) => {
    let leased: LeasedEntry[] = [];
    try {
      const { begun, lanesSent, ...result } = await database.transaction((client) => {
        leased = [];
        return claimEntries(client, params, (entry) => leased.push(entry));
      });
      const notices = { ...noNotices(), runNos: new Set(begun) };
      for (const lane of lanesSent) noteLane(notices, lane, params.now);
      notify(notices);
      return result;
    } catch (error) {
      // The claim may have been committed without a response: leases that cannot be released now expire on their own.
      if (error instanceof StoreUnavailable && leased.length > 0) void release({ entries: leased, now: params.now }).catch(() => {});
      throw error;
    }
  };

  /** Released entries need no slots. Lanes that contain them are announced. */
  async function makeDue(text: string, values: readonly unknown[], dueAt: number): Promise<void> {
    const noted = await database.transaction(async (client) => {
      const { rows } = await client.query<ReleasedRow>(text, [...values]);
      const notices = noNotices();
      await freeSlotsOfRows(client, notices, rows);
      for (const { lane } of rows) noteLane(notices, lane, dueAt);
      return notices;
    });
    notify(noted);
  }

  const release: QueueStore["queueRelease"] = ({ entries, now }) => makeDue(RELEASE, [...columnsOf(entries), now], now);

  /** The order of a key may wait for the last call of an ended run. */
  const remove: QueueStore["queueRemove"] = async (entry) => {
    const notices = noNotices();
    await database.transaction(async (client) => {
      const { rows } = await client.query<ReleasedRow>(REMOVE, columnsOf([entry]));
      await freeSlotsOfRows(client, notices, rows);
      const runNos = rows.map(({ run_no }) => run_no);
      if (runNos.length > 0) await leaveOrder(client, notices, entry.environmentId, runNos);
    });
    notify(notices);
  };

  return {
    queueClaimMany: claimMany,
    async queueRenew({ entries, until }) {
      const renewed = new Set<LeaseId>();
      for (let n = 0; n < entries.length; n += RENEWED_AT_ONCE) {
        const some = entries.slice(n, n + RENEWED_AT_ONCE);
        const rows = await database.query<{ lease_id: LeaseId }>(RENEW, [...columnsOf(some), until]);
        for (const { lease_id } of rows) renewed.add(lease_id);
      }
      return renewed;
    },
    queueRelease: release,
    queueRecover: ({ node, now }) => makeDue(RECOVER, [node, now], now),
    queueDepths: () => queueDepths(database),
    queueCallOf: (params) => queuedCall(database, params),
    queueFunctionDepths: () => queueFunctionDepths(database),
    async queueLanes() {
      return (await database.query<{ lane: string }>(LANES_IN_USE)).map(({ lane }) => lane);
    },
    async queueProbeBegin({ environmentId, no, leaseId, phase }) {
      await database.query(setProbes(phase, `${PROBE_COLUMNS[phase]} + 1`), [environmentId, no, leaseId]);
    },
    async queueProbeClear({ environmentId, no, leaseId, phase }) {
      await database.query(setProbes(phase, "0"), [environmentId, no, leaseId]);
    },
    async queueNextDue() {
      const [row] = await database.query<{ due: number | null }>(NEXT_DUE);
      return row?.due ?? null;
    },
    queueRemove: remove,
    queueReschedule: ({ dueAt, ...entry }) => makeDue(RESCHEDULE, [...columnsOf([entry]), dueAt], dueAt),
    ...heldCallStore({ database, notify }),
    queueWatch: watch,
    limitWatch: watchLimits,
  };
}

async function freeSlotsOfRows(client: PoolClient, notices: Notices, rows: readonly ReleasedRow[]): Promise<void> {
  for (const environmentId of new Set(rows.map(({ environment_id }) => environment_id))) {
    const entries = rows.flatMap(({ environment_id, run_no, entry_no }) =>
      environment_id === environmentId && run_no !== null ? [{ runNo: run_no, entryNo: entry_no }] : [],
    );
    await freeSlots({ read: async (text, values) => (await client.query(text, [...values])).rows, environmentId, notices }, { entries });
  }
}

function columnsOf(entries: readonly LeasedEntry[]): [EnvironmentId[], EntryNo[], LeaseId[]] {
  return [entries.map(({ environmentId }) => environmentId), entries.map(({ no }) => no), entries.map(({ leaseId }) => leaseId)];
}
