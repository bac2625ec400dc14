/** The target of a copy: whether it can be used, and the steps that complete it once every row is copied. */

import type { PoolClient } from "pg";
import { StoreRefused } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import { aliveNodes, MIGRATION_LOCK } from "../postgres/nodes/nodes.ts";
import { MOVED_FILE, type Move } from "../sqlite/folder/moved-folder.ts";
import { COPIED_TABLES } from "./copied-tables.ts";

/** Rows that migrations insert, and that the source contains as well. */
const SEEDS = ["event_types_counted", "event_shapes_read"];
/** Sequences that are not the default of a column, and the numbers in use: the next number must be higher. */
const OTHER_SEQUENCES: readonly (readonly [sequence: string, taken: string])[] = [
  ["event_sequence", "SELECT max(sequence) FROM events"],
  ["entry_numbers", "SELECT max(entry_no) FROM queue"],
];
/** The sequences that number the rows of these tables, as identity or default of a column. */
const SEQUENCES = `
  SELECT c.relname AS table, a.attname AS column, s.relname AS sequence
  FROM pg_class AS c
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0
  LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum
  JOIN pg_depend AS p ON p.classid = 'pg_attrdef'::regclass AND p.objid = d.oid AND p.refclassid = 'pg_class'::regclass
    OR p.classid = 'pg_class'::regclass AND p.refclassid = 'pg_class'::regclass AND p.refobjid = c.oid AND p.refobjsubid = a.attnum AND p.deptype = 'i'
  JOIN pg_class AS s ON s.relkind = 'S' AND s.oid IN (p.objid, p.refobjid)
  WHERE c.oid = ANY ($1::regclass[])`;

export interface Copy {
  beganAt: number;
  isResumed: boolean;
  isFinished: boolean;
}

export interface BeginCopyParts {
  /** The record in the source of an earlier copy. */
  known: Move | null;
  /** The target, for people. */
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
    // Either a node that starts at the same moment sees this copy, or this copy sees the node.
    await client.query("SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const { rows } = await client.query<CopyRow>("SELECT * FROM store_copy");
    if (rows[0]) return resumeCopy(rows[0], known);
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

function resumeCopy({ copy_id, began_at, finished_at }: CopyRow, known: Move | null): Copy {
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

/** Compares the row counts, and opens the database for nodes. Throws StoreRefused if one differs. */
export async function finishCopy(database: Database, expected: ReadonlyMap<string, number>): Promise<void> {
  const wrong: string[] = [];
  for (const [name, rows] of expected) {
    const [found] = await database.query<{ rows: number }>(`SELECT count(*) AS rows FROM ${name}`);
    if (found?.rows !== rows) wrong.push(`${name} (${rows} rows, copied ${found?.rows})`);
  }
  if (wrong.length > 0) {
    throw new StoreRefused(`the copy differs from the folder in ${wrong.join(", ")}: it stays closed. Empty the database and begin anew.`);
  }
  // Without statistics, PostgreSQL would read the tables whole.
  for (const { name } of COPIED_TABLES) await database.query(`ANALYZE ${name}`);
  await database.transaction(async (client) => {
    for (const [sequence, taken] of [...(await ownSequences(client)), ...OTHER_SEQUENCES]) {
      await client.query(`SELECT setval('${sequence}', taken.no) FROM (${taken}) AS taken(no) WHERE taken.no IS NOT NULL`);
    }
    await client.query("UPDATE store_copy SET finished_at = (extract(epoch FROM clock_timestamp()) * 1000)::bigint");
  });
}

async function ownSequences(client: PoolClient): Promise<[sequence: string, taken: string][]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(SEQUENCES, [
    COPIED_TABLES.map(({ name }) => name),
  ]);
  return rows.map(({ table, column, sequence }) => [sequence, `SELECT max(${column}) FROM ${table}`]);
}
