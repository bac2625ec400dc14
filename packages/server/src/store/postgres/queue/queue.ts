/** Claiming, prolonging and recovering entries of the queue in PostgreSQL. */

import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import {
  type ClaimedEntry,
  type EntryKey,
  type EntryKind,
  fromStoreText,
  type Lease,
  type QueueListener,
  type QueueStore,
  TIMER_LANE,
  toStoreText,
} from "../../contract/index.ts";
import { Handing } from "../../rows/entry-writes.ts";
import { boundedKey } from "../bounded-key.ts";
import type { Database } from "../database.ts";
import { LANE_WALK } from "./lane-walk.ts";
import type { RunReads } from "./run-reads.ts";
import { TIMER_LANE_NO, type Words } from "./words.ts";

/** How far a low priority may put an entry behind those that come after it. */
const RANK_AHEAD_MAX_MS = 43_200_000;

interface QueueRow {
  entry_no: number;
  environment_id: number;
  lane_no: number;
  home_lane_no: number;
  rank: number;
  due_at: number;
  kind: string;
  run_no: number | null;
  function_no: number;
  step_id: string;
  attempt: number;
  claims: number;
  trials: number;
  subject: string | null;
  event_no: number | null;
}

/** Of a lane, in the environment it belongs to. */
const CLAIM = "SELECT * FROM claim_entries($1, $2, $3, $4, $5, $6, $7)";
/** In every environment: of a sharded PostgreSQL each shard would be asked for its own. */
const CLAIM_TIMERS = "SELECT * FROM claim_timers($1, $2, $3, $4)";

/** Calls that stood among the timers go home: those with room in their lane are held there, the others wait there. */
const SEND_HOME = `
  WITH moved AS (
    UPDATE queue SET lane_no = home_lane_no,
      rank = CASE WHEN moved.taken THEN queue.rank ELSE moved.rank END, due_at = CASE WHEN moved.taken THEN queue.due_at ELSE moved.rank END,
      leased_by = CASE WHEN moved.taken THEN leased_by END, claims = CASE WHEN moved.taken THEN claims ELSE claims - 1 END
    FROM unnest($1::integer[], $2::bigint[], $3::bigint[], $4::boolean[]) AS moved(environment_id, entry_no, rank, taken)
    WHERE queue.environment_id = moved.environment_id AND queue.entry_no = moved.entry_no AND leased_by = $5
    RETURNING queue.environment_id, run_no, taken
  )
  SELECT begin_runs(environment_id, array_agg(run_no)) FROM moved WHERE taken GROUP BY environment_id`;

const LANES_IN_USE = `
  ${LANE_WALK}
  SELECT lanes.key FROM walk JOIN lanes USING (lane_no)
  UNION ALL
  SELECT key FROM lanes WHERE lane_no = ${TIMER_LANE_NO} AND EXISTS (SELECT FROM queue WHERE queue.lane_no = ${TIMER_LANE_NO})`;

/** Who finishes one of them waits for all of a statement. */
const RENEWED_AT_ONCE = 500;
/** What is locked is just being finished: it needs no longer lease. */
const RENEW = `
  UPDATE queue SET rank = $4, due_at = $4 FROM (
    SELECT q.environment_id, q.entry_no FROM unnest($1::integer[], $2::bigint[]) AS held(environment_id, entry_no)
    JOIN queue AS q USING (environment_id, entry_no) WHERE q.leased_by = $3 FOR UPDATE OF q SKIP LOCKED) AS free
  WHERE queue.environment_id = free.environment_id AND queue.entry_no = free.entry_no AND queue.leased_by = $3`;

const RELEASE = `
  UPDATE queue SET rank = $4, due_at = $4, leased_by = NULL, claims = greatest(claims - 1, 0), trials = greatest(trials - 1, 0)
  FROM unnest($1::integer[], $2::bigint[]) AS held(environment_id, entry_no)
  WHERE queue.environment_id = held.environment_id AND queue.entry_no = held.entry_no AND leased_by = $3 RETURNING lane_no`;

/** In one order, so that nodes which want the same limits wait for each other, but never in a circle. */
const HOLD_LIMITS = `
  INSERT INTO limit_holders AS h (limit_id, node, until)
  SELECT DISTINCT limit_id, $2, $4::bigint FROM unnest($1::text[]) AS limit_id ORDER BY 1
  ON CONFLICT (limit_id) DO UPDATE SET node = excluded.node, until = excluded.until WHERE h.node = excluded.node OR h.until <= $3
  RETURNING 1`;

export interface QueueParts {
  database: Database;
  words: Words;
  reads: RunReads;
  watch(listener: QueueListener): () => void;
  /** Others are told that this lane holds work. */
  announce(lane: string, dueAt: number): void;
}

/** Held by this node, not by its own account, and not prolonged since: the answer to a claim was lost. */
const RELEASE_LOST = `
  UPDATE queue SET rank = $2, due_at = $2, leased_by = NULL, claims = greatest(claims - 1, 0)
  WHERE leased_by = $1 AND due_at <= $2 AND entry_no <> ALL ($3::bigint[]) RETURNING lane_no`;

export function queueStore({ database, words, reads, watch, announce }: QueueParts): QueueStore {
  /** When the lease ends of what was perhaps claimed and never told; null: there is no such claim. */
  let lostUntil: number | null = null;

  const claimMany: QueueStore["queueClaimMany"] = async (params) => {
    try {
      return await claim(params);
    } catch (error) {
      lostUntil = Math.max(lostUntil ?? 0, params.lease.until);
      throw error;
    }
  };

  const claim: QueueStore["queueClaimMany"] = async ({ lane, limit, now, lease }) => {
    const rows = await claimRows(lane, { now, limit, lease });
    await readAhead(rows);
    const keys = await words.laneKeys(rows.map(({ home_lane_no }) => home_lane_no));
    const entries = rows.map((row) => toClaimed(row, keys.get(row.home_lane_no) ?? lane));
    const handing = new Handing(now, lease);
    const moved = entries.filter(({ kind }, index) => kind === "call" && rows[index]?.lane_no !== rows[index]?.home_lane_no);
    const turnedAway = new Set(moved.filter((entry) => !handing.take(entry.lane)));
    if (moved.length > 0) {
      const taken = moved.map((entry) => !turnedAway.has(entry));
      await database.query(SEND_HOME, [...keysOf(moved), moved.map(({ rank }) => rank), taken, lease.node]);
      for (const entry of turnedAway) announce(entry.lane, now);
    }
    return { claimed: entries.filter((entry) => !turnedAway.has(entry)), more: rows.length === limit };
  };

  /** Apps are about to be called for them. */
  async function readAhead(rows: readonly QueueRow[]): Promise<void> {
    const calls = rows.flatMap(({ kind, run_no, environment_id }) =>
      kind === "call" && run_no !== null ? [{ environmentId: environment_id as EnvironmentId, runNo: run_no as RunNo }] : [],
    );
    // What cannot be read now is read when its turn has come.
    await reads.readAhead(calls).catch(() => {});
  }

  async function claimRows(lane: string, { now, limit, lease }: { now: number; limit: number; lease: Lease }): Promise<QueueRow[]> {
    const taken = [now, limit, lease.until, lease.node];
    if (lane === TIMER_LANE) return database.query<QueueRow>(CLAIM_TIMERS, taken);
    const environmentId = await words.environmentOf(lane);
    if (environmentId === null) return [];
    return database.query<QueueRow>(CLAIM, [environmentId, toStoreText(lane), now + RANK_AHEAD_MAX_MS, ...taken]);
  }

  async function announceLanes(numbers: readonly number[], now: number): Promise<void> {
    const keys = await words.laneKeys(numbers);
    for (const no of new Set(numbers)) announce(keys.get(no) ?? TIMER_LANE, now);
  }

  /** Looks through the whole queue, so it is done only when a claim failed. */
  async function releaseLost(node: string, known: readonly EntryNo[]): Promise<void> {
    const now = database.now();
    if (lostUntil === null || lostUntil >= now) return;
    const lost = lostUntil;
    const rows = await database.query<{ lane_no: number }>(RELEASE_LOST, [node, now, known]);
    if (lostUntil === lost) lostUntil = null;
    await announceLanes(
      rows.map(({ lane_no }) => lane_no),
      now,
    );
  }

  return {
    queueClaimMany: claimMany,
    async queueRenew({ entries, others = [], node, until }) {
      for (let n = 0; n < entries.length; n += RENEWED_AT_ONCE) {
        await database.query(RENEW, [...keysOf(entries.slice(n, n + RENEWED_AT_ONCE)), node, until]);
      }
      await releaseLost(
        node,
        [...entries, ...others].map(({ no }) => no),
      );
    },
    async queueRelease({ entries, node, now }) {
      const rows = await database.query<{ lane_no: number }>(RELEASE, [...keysOf(entries), node, now]);
      await announceLanes(
        rows.map(({ lane_no }) => lane_no),
        now,
      );
    },
    async queueRecover({ node, now }) {
      await database.query("UPDATE queue SET rank = $2, due_at = $2, leased_by = NULL WHERE leased_by = $1", [node, now]);
    },
    async queueLanes() {
      return (await database.query<{ key: string }>(LANES_IN_USE)).map(({ key }) => fromStoreText(key));
    },
    async queueNextDue() {
      const [row] = await database.query<{ due: number | null }>(`SELECT min(rank) AS due FROM queue WHERE lane_no = ${TIMER_LANE_NO}`);
      return row?.due ?? null;
    },
    async queueReschedule({ environmentId, no, node, dueAt }) {
      await database.query(
        `UPDATE queue SET lane_no = ${TIMER_LANE_NO}, rank = $4, due_at = $4, leased_by = NULL
         WHERE environment_id = $1 AND entry_no = $2 AND leased_by = $3`,
        [environmentId, no, node, dueAt],
      );
      announce(TIMER_LANE, dueAt);
    },
    async queueTry({ environmentId, no, node }) {
      await database.query("UPDATE queue SET trials = trials + 1 WHERE environment_id = $1 AND entry_no = $2 AND leased_by = $3", [
        environmentId,
        no,
        node,
      ]);
    },
    async queueDepths() {
      const rows = await database.query<{ environment_id: EnvironmentId; waiting: number; oldest: number | null }>(
        `SELECT environment_id, sum(counted.waiting)::bigint AS waiting, min(first.due_at) FILTER (WHERE first.leased_by IS NULL) AS oldest
         FROM (SELECT environment_id, lane_no, count(*) AS waiting FROM queue WHERE lane_no <> ${TIMER_LANE_NO} GROUP BY 1, 2) AS counted
         CROSS JOIN LATERAL (
           SELECT leased_by, due_at FROM queue WHERE queue.environment_id = counted.environment_id
             AND queue.lane_no = counted.lane_no AND queue.lane_no <> ${TIMER_LANE_NO} ORDER BY rank LIMIT 1) AS first
         GROUP BY environment_id`,
      );
      return rows.map(({ environment_id, waiting, oldest }) => ({ environmentId: environment_id, waiting, oldestDueAt: oldest }));
    },
    async queueLimitHold({ ids, node, now, until }) {
      const rows = await database.query(HOLD_LIMITS, [ids.map(boundedKey), node, now, until]);
      return rows.length === new Set(ids).size;
    },
    async queueLimitRelease({ ids, node }) {
      await database.query("DELETE FROM limit_holders WHERE limit_id = ANY ($1) AND node = $2", [ids.map(boundedKey), node]);
    },
    queueWatch: watch,
    async queueRemove({ environmentId, no, node }) {
      await database.query("DELETE FROM queue WHERE environment_id = $1 AND entry_no = $2 AND leased_by = $3", [environmentId, no, node]);
    },
    queueLaneForgetMany: ({ after, limit }) => forgetLanes(database, words, after, limit),
  };
}

/**
 * The lanes are locked first, and the queue is looked at in a second statement: so an entry that is being written to one of them
 * is seen. Lanes that are locked are in use.
 */
async function forgetLanes(
  database: Database,
  words: Words,
  after: number,
  limit: number,
): Promise<{ forgotten: number; reached: number | null }> {
  const forgotten = await database.transaction(async (client) => {
    const { rows: looked } = await client.query<{ lane_no: number }>(
      "SELECT lane_no FROM lanes WHERE lane_no > $1 ORDER BY lane_no LIMIT $2",
      [Math.max(after, TIMER_LANE_NO), limit],
    );
    const numbers = looked.map(({ lane_no }) => lane_no);
    await client.query("SELECT 1 FROM lanes WHERE lane_no = ANY ($1) FOR UPDATE SKIP LOCKED", [numbers]);
    const { rowCount } = await client.query(
      `DELETE FROM lanes WHERE lane_no IN (SELECT lane_no FROM lanes WHERE lane_no = ANY ($1) FOR UPDATE SKIP LOCKED)
         AND NOT EXISTS (SELECT FROM queue WHERE queue.environment_id = lanes.environment_id AND queue.lane_no = lanes.lane_no
           AND queue.lane_no <> ${TIMER_LANE_NO})
         AND NOT EXISTS (SELECT FROM queue WHERE queue.environment_id = lanes.environment_id AND queue.home_lane_no = lanes.lane_no
           AND queue.lane_no <> queue.home_lane_no)`,
      [numbers],
    );
    return { removed: rowCount ?? 0, numbers };
  });
  if (forgotten.removed > 0) words.forgetLanes();
  return { forgotten: forgotten.removed, reached: forgotten.numbers.length < limit ? null : (forgotten.numbers.at(-1) ?? null) };
}

function keysOf(entries: readonly EntryKey[]): [EnvironmentId[], EntryNo[]] {
  return [entries.map(({ environmentId }) => environmentId), entries.map(({ no }) => no)];
}

function toClaimed(row: QueueRow, lane: string): ClaimedEntry {
  return {
    no: row.entry_no as EntryNo,
    kind: row.kind as EntryKind,
    environmentId: row.environment_id as EnvironmentId,
    lane,
    rank: row.rank,
    dueAt: row.due_at,
    runNo: row.run_no as RunNo | null,
    functionNo: row.function_no as FunctionNo,
    stepId: (fromStoreText(row.step_id) || null) as StepId | null,
    attempt: row.attempt,
    claims: row.claims,
    trials: row.trials,
    subject: row.subject === null ? null : fromStoreText(row.subject),
    eventSequence: row.event_no,
  };
}
