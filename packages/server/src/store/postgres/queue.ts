/** Claiming, prolonging and recovering entries of the queue in PostgreSQL. */

import type { EntryNo, EnvironmentId, FunctionNo, RunNo, StepId } from "@inlet/protocol";
import {
  type ClaimedEntry,
  type EntryKind,
  fromStoreText,
  type QueueListener,
  type QueueStore,
  TIMER_LANE,
  toStoreText,
} from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import { boundedKey } from "./bounded-key.ts";
import type { Database } from "./database.ts";
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

/** Entries that another node is just claiming or finishing are passed over, not waited for. */
const CLAIM = `
  WITH due AS MATERIALIZED (
    SELECT entry_no, rank, due_at FROM queue
    WHERE lane_no = (SELECT lane_no FROM lanes WHERE md5(key) = md5($1) AND key = $1) AND rank <= $2 AND due_at <= $3 AND leased_by IS DISTINCT FROM $6
    ORDER BY rank, entry_no LIMIT $4 FOR UPDATE SKIP LOCKED
  ), held AS (
    UPDATE queue SET rank = $5, due_at = $5, leased_by = $6, claims = claims + 1
    FROM due WHERE queue.entry_no = due.entry_no
    RETURNING queue.entry_no, environment_id, lane_no, home_lane_no, due.rank AS rank, due.due_at AS due_at, kind, run_no, function_no, step_id, attempt, claims, trials, subject, event_no
  ), begun AS MATERIALIZED (
    SELECT begin_runs(array_agg(run_no)) FROM held WHERE kind = 'call' AND lane_no = home_lane_no
  )
  SELECT held.* FROM held, begun ORDER BY rank, entry_no`;

/** Calls that stood among the timers go home: those with room in their lane are held there, the others wait there. */
const SEND_HOME = `
  WITH moved AS (
    UPDATE queue SET lane_no = home_lane_no,
      rank = CASE WHEN moved.taken THEN queue.rank ELSE moved.rank END, due_at = CASE WHEN moved.taken THEN queue.due_at ELSE moved.rank END,
      leased_by = CASE WHEN moved.taken THEN leased_by END, claims = CASE WHEN moved.taken THEN claims ELSE claims - 1 END
    FROM unnest($1::bigint[], $2::bigint[], $3::boolean[]) AS moved(entry_no, rank, taken)
    WHERE queue.entry_no = moved.entry_no AND leased_by = $4
    RETURNING run_no, taken
  )
  SELECT begin_runs(array_agg(run_no)) FROM moved WHERE taken`;

/** Walks from lane to lane through the index instead of reading the whole queue. */
const LANES_IN_USE = `
  WITH RECURSIVE walk AS (
    (SELECT lane_no FROM queue ORDER BY lane_no LIMIT 1)
    UNION ALL
    SELECT (SELECT queue.lane_no FROM queue WHERE queue.lane_no > walk.lane_no ORDER BY queue.lane_no LIMIT 1) FROM walk WHERE walk.lane_no IS NOT NULL
  )
  SELECT lanes.key FROM walk JOIN lanes USING (lane_no)`;

/** In one order, so that nodes which want the same limits wait for each other, but never in a circle. */
const HOLD_LIMITS = `
  INSERT INTO limit_holders AS h (limit_id, node, until)
  SELECT DISTINCT limit_id, $2, $4::bigint FROM unnest($1::text[]) AS limit_id ORDER BY 1
  ON CONFLICT (limit_id) DO UPDATE SET node = excluded.node, until = excluded.until WHERE h.node = excluded.node OR h.until <= $3
  RETURNING 1`;

export interface QueueParts {
  database: Database;
  words: Words;
  watch(listener: QueueListener): () => void;
  /** Others are told that this lane holds work. */
  announce(lane: string, dueAt: number): void;
}

/** Held by this node, not by its own account, and not prolonged since: the answer to a claim was lost. */
const RELEASE_LOST = `
  UPDATE queue SET rank = $2, due_at = $2, leased_by = NULL, claims = greatest(claims - 1, 0)
  WHERE leased_by = $1 AND due_at <= $2 AND entry_no <> ALL ($3::bigint[]) RETURNING lane_no`;

export function queueStore({ database, words, watch, announce }: QueueParts): QueueStore {
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
    const rankMax = lane === TIMER_LANE ? now : now + RANK_AHEAD_MAX_MS;
    const values = [toStoreText(lane), rankMax, now, limit, lease.until, lease.node];
    const rows = await database.query<QueueRow>(CLAIM, values);
    const keys = await words.laneKeys(rows.map(({ home_lane_no }) => home_lane_no));
    const entries = rows.map((row) => toClaimed(row, keys.get(row.home_lane_no) ?? lane));
    const handing = new Handing(now, lease);
    const moved = entries.filter(({ kind }, index) => kind === "call" && rows[index]?.lane_no !== rows[index]?.home_lane_no);
    const turnedAway = new Set(moved.filter((entry) => !handing.take(entry.lane)));
    if (moved.length > 0) {
      const taken = moved.map((entry) => !turnedAway.has(entry));
      await database.query(SEND_HOME, [moved.map(({ no }) => no), moved.map(({ rank }) => rank), taken, lease.node]);
      for (const entry of turnedAway) announce(entry.lane, now);
    }
    return { claimed: entries.filter((entry) => !turnedAway.has(entry)), more: rows.length === limit };
  };

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
    async queueRenew({ entryNos, node, until }) {
      // What is locked is just being finished: it needs no longer lease.
      if (entryNos.length > 0)
        await database.query(
          `UPDATE queue SET rank = $2, due_at = $2 WHERE leased_by = $3 AND entry_no IN (
           SELECT entry_no FROM queue WHERE entry_no = ANY ($1::bigint[]) AND leased_by = $3 FOR UPDATE SKIP LOCKED)`,
          [entryNos, until, node],
        );
      await releaseLost(node, entryNos);
    },
    async queueRelease({ entryNos, node, now }) {
      const rows = await database.query<{ lane_no: number }>(
        `UPDATE queue SET rank = $3, due_at = $3, leased_by = NULL, claims = greatest(claims - 1, 0), trials = greatest(trials - 1, 0)
         WHERE entry_no = ANY ($1::bigint[]) AND leased_by = $2 RETURNING lane_no`,
        [entryNos, node, now],
      );
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
    async queueReschedule({ no, node, dueAt }) {
      await database.query(
        `UPDATE queue SET lane_no = ${TIMER_LANE_NO}, rank = $3, due_at = $3, leased_by = NULL WHERE entry_no = $1 AND leased_by = $2`,
        [no, node, dueAt],
      );
      announce(TIMER_LANE, dueAt);
    },
    async queueTry({ no, node }) {
      await database.query("UPDATE queue SET trials = trials + 1 WHERE entry_no = $1 AND leased_by = $2", [no, node]);
    },
    async queueDepths() {
      const rows = await database.query<{ environment_id: EnvironmentId; waiting: number; oldest: number | null }>(
        `SELECT first.environment_id, sum(counted.waiting)::bigint AS waiting, min(first.due_at) FILTER (WHERE first.leased_by IS NULL) AS oldest
         FROM (SELECT lane_no, count(*) AS waiting FROM queue WHERE lane_no > ${TIMER_LANE_NO} GROUP BY lane_no) AS counted
         CROSS JOIN LATERAL (
           SELECT environment_id, leased_by, due_at FROM queue WHERE queue.lane_no = counted.lane_no ORDER BY rank LIMIT 1) AS first
         GROUP BY first.environment_id`,
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
    async queueRemove({ no, node }) {
      await database.query("DELETE FROM queue WHERE entry_no = $1 AND leased_by = $2", [no, node]);
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
         AND NOT EXISTS (SELECT FROM queue WHERE queue.lane_no = lanes.lane_no)
         AND NOT EXISTS (SELECT FROM queue WHERE queue.home_lane_no = lanes.lane_no AND queue.lane_no <> queue.home_lane_no)`,
      [numbers],
    );
    return { removed: rowCount ?? 0, numbers };
  });
  if (forgotten.removed > 0) words.forgetLanes();
  return { forgotten: forgotten.removed, reached: forgotten.numbers.length < limit ? null : (forgotten.numbers.at(-1) ?? null) };
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
