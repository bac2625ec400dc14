/** Starting functions with rules about their starts, in PostgreSQL: part of the write path of decisions (write-decisions.ts). */

import type { EnvironmentId, EventId, FunctionNo, RunNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { FunctionStartStore, MarkExpireParams, MarkKey, StoredEvent } from "../../contract/index.ts";
import { eventsAt, eventsOfSome } from "../../events/postgres/select-events.ts";
import { BatchedReads } from "../../postgres/batched-reads.ts";
import { boundedKey } from "../../postgres/bounded-key.ts";
import type { Database } from "../../postgres/database.ts";
import type { GroupCommit } from "../../postgres/group-commit.ts";
import type { Decision, DecisionResult } from "../../runs/postgres/decisions.ts";
import { unfinished } from "../../runs/postgres/run-state.ts";
import { heldMarkExpiresAt, runKeepingMark } from "../policy.ts";

const UNDECIDED = `
  SELECT event_id FROM events AS e WHERE environment_id = $1 AND event_id = ANY ($2::text[])
    AND EXISTS (SELECT FROM queue AS q WHERE q.environment_id = $1 AND q.event_no = e.sequence AND q.kind = 'start')`;
/** The rows that an environment left behind when it moved may not be changed, and are removed with the rest of it. */
const EXPIRED = `
  SELECT environment_id, function_no, kind, key, value FROM marks WHERE expires_at <= $1
    AND environment_id NOT IN (SELECT environment_id FROM moving_environments WHERE role = 'left')
  ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED`;
const REMOVE = "DELETE FROM marks WHERE environment_id = $1 AND function_no = $2 AND kind = $3 AND key = $4";
const RENEW = "UPDATE marks SET expires_at = $5 WHERE environment_id = $1 AND function_no = $2 AND kind = $3 AND key = $4";

interface MarkRow {
  environment_id: EnvironmentId;
  function_no: FunctionNo;
  kind: MarkKey["kind"];
  key: string;
  value: string;
}

export function functionStartStore(database: Database, writer: GroupCommit<Decision, DecisionResult>): FunctionStartStore {
  const events = createEventReads(database);
  return {
    eventAt: ({ environmentId, sequence }) => events.load(environmentId, sequence),
    eventsAt: async ({ environmentId, sequences }) => [
      ...(await eventsAt((text, values) => database.query(text, values), environmentId, sequences)).values(),
    ],
    async markGet({ environmentId, functionNo, kind, key }) {
      const [row] = await database.query<{ value: string }>(
        "SELECT value FROM marks WHERE environment_id = $1 AND function_no = $2 AND kind = $3 AND key = $4",
        [environmentId, functionNo, kind, boundedKey(key)],
      );
      return row?.value ?? null;
    },
    startsUndecided: async ({ environmentId, eventIds }) =>
      (await database.query<{ event_id: EventId }>(UNDECIDED, [environmentId, eventIds])).map(({ event_id }) => event_id),
    functionStart: (params) =>
      writer.submit(
        { kind: "start function", params },
        { environmentId: params.environmentId, rows: 4, keys: [`entry ${params.entry.no}`] },
      ),
    markExpireMany: (params) => expireMarks(database, params),
  };
}

/** One event resumes many runs, and many events start functions at once: what is asked for together is read together, each event once. */
function createEventReads(database: Database): BatchedReads<number, StoredEvent> {
  return new BatchedReads(async (environmentId, sequences) => {
    const asked = new Map(sequences.map((sequence) => [sequence, [sequence]]));
    const read = await eventsOfSome((text, values) => database.query(text, values), environmentId, asked);
    return {
      found: new Map([...read].flatMap(([sequence, [event]]) => (event ? [[sequence, event] as const] : []))),
      left: sequences.filter((sequence) => !read.has(sequence)),
    };
  });
}

/** The mark of a singleton with an unfinished run is kept, and so is one that is needed for longer than was known when it was written. */
function expireMarks(database: Database, { until, limit, neededUntil }: MarkExpireParams): Promise<number> {
  return database.transaction(async (client) => {
    const { rows } = await client.query<MarkRow>(EXPIRED, [until, limit]);
    for (const { environment_id, function_no, kind, key, value } of rows) {
      const mark = [environment_id, function_no, kind, key];
      const keeper = runKeepingMark({ kind, value });
      const isHeld = keeper !== null && (await isActive(client, environment_id, keeper));
      const expiresAt = isHeld ? heldMarkExpiresAt(until) : neededUntil({ functionNo: function_no, kind, value });
      if (expiresAt > until) await client.query(RENEW, [...mark, expiresAt]);
      else await client.query(REMOVE, mark);
    }
    return rows.length;
  }, "maintenance");
}

async function isActive(client: PoolClient, environmentId: EnvironmentId, runNo: RunNo): Promise<boolean> {
  const text = "SELECT ended_at FROM runs WHERE environment_id = $1 AND run_no = $2";
  return unfinished((await client.query<{ ended_at: number | null }>(text, [environmentId, runNo])).rows).length > 0;
}
