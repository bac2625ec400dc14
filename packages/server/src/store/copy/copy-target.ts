/** The target of a copy: whether it may be used, and what makes it complete once every row is there. */

import type { PoolClient } from "pg";
import { StoreRefused } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { aliveNodes, MIGRATION_LOCK } from "../postgres/nodes.ts";
import { MOVED_FILE, type Move } from "../sqlite/moved-folder.ts";
import { COPIED_TABLES } from "./copied-tables.ts";

/** Rows that migrations put there, and the source brings as well. */
const SEEDS = ["lanes", "event_types_counted"];
/** By sequence, the numbers that are taken: the next one must lie beyond them. */
const SEQUENCES: readonly (readonly [sequence: string, taken: string])[] = [
  ...serial("environments", "environment_id"),
  ...serial("keys", "key_no"),
  ...serial("event_names", "name_id"),
  ...serial("event_sources", "source_no"),
  ...serial("lanes", "lane_no"),
  ...serial("webhooks", "webhook_no"),
  ...serial("apps", "app_no"),
  ...serial("functions", "function_no"),
  ...serial("failed_attempts", "attempt_no"),
  ...serial("calls", "call_no"),
  ...serial("waits", "wait_no"),
  ...serial("audit_log", "sequence"),
  ["'event_sequence'", "SELECT max(sequence) FROM events"],
  ["'request_sequence'", "SELECT max(sequence) FROM webhook_requests"],
  // In blocks of ten thousand, see number-blocks.ts.
  [
    "'number_blocks'",
    "SELECT greatest((SELECT max(run_no) FROM runs), (SELECT max(entry_no) FROM queue)) / 10000 + 1 WHERE EXISTS (SELECT FROM runs) OR EXISTS (SELECT FROM queue)",
  ],
];

export interface Copy {
  beganAt: number;
  isResumed: boolean;
  isFinished: boolean;
}

export interface BeginCopyParts {
  /** What the source says of a copy that was begun before. */
  known: Move | null;
  /** Where this one goes, for people. */
  to: string;
  begin(): Move;
}

interface CopyRow {
  copy_id: string;
  began_at: number;
  finished_at: number | null;
}

export function beginCopy(database: Database, { known, to, begin }: BeginCopyParts): Promise<Copy> {
  return database.transaction(async (client) => {
    // A node that starts at the same moment sees this copy, or is seen here.
    await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const { rows } = await client.query<CopyRow>("SELECT * FROM store_copy");
    if (rows[0]) return goOn(rows[0], known);
    await refuseUsed(client);
    if (known && known.to !== to) {
      throw new StoreRefused(
        `the folder was moved to ${known.to} already. Nothing was changed. Delete ${MOVED_FILE} in it to copy it again.`,
      );
    }
    const { copyId } = known ?? begin();
    for (const table of SEEDS) await client.query(`DELETE FROM ${table}`);
    const { rows: begun } = await client.query<CopyRow>(
      "INSERT INTO store_copy VALUES (1, $1, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) RETURNING *",
      [copyId],
    );
    return { beganAt: (begun[0] as CopyRow).began_at, isResumed: false, isFinished: false };
  });
}

function goOn({ copy_id, began_at, finished_at }: CopyRow, known: Move | null): Copy {
  if (known?.copyId === copy_id) return { beganAt: began_at, isResumed: true, isFinished: finished_at !== null };
  const what = finished_at === null ? "an unfinished copy" : "the copy";
  throw new StoreRefused(
    `the database holds ${what} of another store, or of an earlier state of this one. Nothing was changed. Name an empty database.`,
  );
}

async function refuseUsed(client: PoolClient): Promise<void> {
  const [node] = await aliveNodes(client);
  if (node) throw new StoreRefused(`the node ${node.node} works on this database. Stop it, and name an empty database.`);
  for (const { name } of COPIED_TABLES.filter((table) => !SEEDS.includes(table.name))) {
    const { rowCount } = await client.query(`SELECT 1 FROM ${name} LIMIT 1`);
    if (rowCount !== 0) {
      throw new StoreRefused(`the database is not empty: there are rows in ${name}. Nothing was changed. Name an empty database.`);
    }
  }
}

/** Compares the numbers of rows, and opens the database for nodes. Throws StoreRefused if one differs. */
export async function finishCopy(database: Database, expected: ReadonlyMap<string, number>): Promise<void> {
  const wrong: string[] = [];
  for (const [name, rows] of expected) {
    const [found] = await database.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`);
    if (found?.rows !== rows) wrong.push(`${name} (${rows} rows, copied ${found?.rows})`);
  }
  if (wrong.length > 0) {
    throw new StoreRefused(`the copy differs from the folder in ${wrong.join(", ")}: it stays closed. Empty the database and begin anew.`);
  }
  // Without knowing the tables PostgreSQL would read them whole.
  for (const { name } of COPIED_TABLES) await database.query(`ANALYZE ${name}`);
  await database.transaction(async (client) => {
    for (const [sequence, taken] of SEQUENCES) {
      await client.query(`SELECT setval(${sequence}, taken.no) FROM (${taken}) AS taken(no) WHERE taken.no IS NOT NULL`);
    }
    await client.query("UPDATE store_copy SET finished_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
  });
}

function serial(table: string, column: string): [[string, string]] {
  return [[`pg_get_serial_sequence('${table}', '${column}')`, `SELECT max(${column}) FROM ${table}`]];
}
