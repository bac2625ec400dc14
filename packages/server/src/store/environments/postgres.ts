/** Environments in PostgreSQL. Few rows, read whole. */

import type { EnvironmentStore } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import { type EnvironmentRow, toEnvironment } from "./rows.ts";

const INSERT = `
  INSERT INTO environments (name, kind, created_at, body_bytes_max) VALUES ($1, $2, $3, $4)
  ON CONFLICT DO NOTHING RETURNING *`;
const UPDATE = `
  UPDATE environments SET
    archived_at    = CASE WHEN $1::boolean THEN $2::bigint ELSE archived_at END,
    body_bytes_max = CASE WHEN $3::boolean THEN $4::bigint ELSE body_bytes_max END,
    event_retention_ms   = CASE WHEN $5::boolean THEN $6::bigint ELSE event_retention_ms END,
    run_retention_ms     = CASE WHEN $7::boolean THEN $8::bigint ELSE run_retention_ms END,
    request_retention_ms = CASE WHEN $9::boolean THEN $10::bigint ELSE request_retention_ms END
  WHERE environment_id = $11 RETURNING *`;

export function environmentStore(database: Database, announced: Announced): EnvironmentStore {
  const one = async (text: string, values: readonly unknown[]) => {
    const [row] = await announced("directory", (client) => client.query<EnvironmentRow>(text, [...values]).then(({ rows }) => rows));
    return row ? toEnvironment(row) : null;
  };
  return {
    environmentList: async () =>
      (await database.query<EnvironmentRow>("SELECT * FROM environments ORDER BY environment_id")).map(toEnvironment),
    environmentInsert: ({ name, kind, createdAt, bodyBytesMax }) => one(INSERT, [name, kind, createdAt, bodyBytesMax]),
    environmentUpdate: ({ id, archivedAt, bodyBytesMax, retention: { eventsMs, runsMs, requestsMs } = {} }) =>
      one(UPDATE, [...[archivedAt, bodyBytesMax, eventsMs, runsMs, requestsMs].flatMap(change), id]),
  };
}

/** Undefined leaves a column unchanged; null clears it. */
function change(value: number | null | undefined): [boolean, number | null] {
  return value === undefined ? [false, null] : [true, value];
}
