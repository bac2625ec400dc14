/**
 * The tables that move with an environment: every table with its id, except those that stay in the directory. They are read from the
 * schema, with what copying them needs: a new table moves without being named here.
 */

import type { Database } from "../../postgres/database.ts";

/** In the directory, whichever database the environment is in; and what a move itself writes. */
export const STAYING: readonly string[] = [
  "environments",
  "keys",
  "webhooks",
  "webhook_tokens",
  "webhook_versions",
  "environment_moves",
  "moving_environments",
  "moved_changes",
  "moved_tables",
];

/** Identify rows in tables without a unique index of plain columns, in the order of an index. */
const KEYS: Readonly<Record<string, readonly string[]>> = {
  failed_attempts: ["run_no", "ended_at", "attempt_no"],
  limit_slots: ["run_no", "entry_no", "limit_id"],
};

/**
 * Referenced tables come first. Events come last: while they arrive, a sweeper of the target keeps those that unfinished runs and entries
 * need, because those are there.
 */
const FIRST = ["apps", "functions"];
const LAST = ["events"];

export interface MovedTable {
  name: string;
  columns: readonly Column[];
  /** Identify a row in its environment, in the order of an index. */
  key: readonly Column[];
  /** A unique index consists of the environment and the key. */
  isKeyUnique: boolean;
  /** The other unique indexes. */
  uniques: readonly UniqueIndex[];
}

export interface Column {
  name: string;
  type: string;
}

export interface UniqueIndex {
  /** Columns and expressions. */
  parts: readonly string[];
  /** Null: of all rows. */
  condition: string | null;
}

interface TableRow {
  name: string;
  columns: Column[];
  uniques: (UniqueIndex & { isPrimary: boolean; isPlain: boolean })[] | null;
}

const TABLES = `
  SELECT c.relname AS name,
    (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod)) ORDER BY a.attnum)
     FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    (SELECT json_agg(json_build_object(
        'parts', ARRAY(SELECT pg_get_indexdef(x.indexrelid, n, true) FROM generate_series(1, x.indnkeyatts) AS n),
        'condition', pg_get_expr(x.indpred, x.indrelid, true),
        'isPrimary', x.indisprimary,
        'isPlain', x.indpred IS NULL AND x.indexprs IS NULL) ORDER BY x.indisprimary DESC, x.indexrelid)
     FROM pg_index AS x WHERE x.indrelid = c.oid AND x.indisunique) AS uniques
  FROM pg_class AS c
  WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = current_schema()::regnamespace
    AND EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'environment_id' AND NOT a.attisdropped)
    AND c.relname <> ALL ($1::text[])
  ORDER BY c.relname`;

/** In the order in which they are copied. They are removed in the reverse order. */
export async function movedTables(database: Database): Promise<MovedTable[]> {
  const tables = (await database.read<TableRow>(TABLES, [STAYING])).map(movedTable);
  return tables.sort((one, other) => rankOf(one) - rankOf(other));
}

function movedTable({ name, columns, uniques }: TableRow): MovedTable {
  const indexes = uniques ?? [];
  const own = indexes.find(({ isPlain }) => isPlain);
  const keyNames = own?.parts.filter((part) => part !== "environment_id") ?? KEYS[name];
  if (!keyNames) throw new Error(`rows of ${name} have no key by which they could be moved`);
  // One row for each environment: the environment is the key.
  const key = keyNames.map((part) => columns.find((column) => column.name === part.replaceAll('"', "")) as Column);
  return { name, columns, key, isKeyUnique: own !== undefined, uniques: indexes.filter((index) => index !== own) };
}

function rankOf({ name }: MovedTable): number {
  if (LAST.includes(name)) return FIRST.length + 1;
  return FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length;
}
