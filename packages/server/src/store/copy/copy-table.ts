/** Copies one table, a batch of rows at a time, from where an earlier attempt stopped. */

import type { DatabaseSync } from "node:sqlite";
import type { PoolClient } from "pg";
import type { Database } from "../postgres/database.ts";
import type { CopiedTable, SourceRow, Value } from "./copied-tables.ts";

/** The size of one transaction: whichever limit is reached first. */
const ROWS_MAX = 2_000;
const TEXT_UNITS_MAX = 8_000_000;

export interface CopyTableParts {
  source: DatabaseSync;
  database: Database;
  table: CopiedTable;
  beganAt: number;
  /** How many of its rows have been copied. */
  onRows(rows: number): void;
}

interface Progress {
  /** The key of the last copied row, or null before the first. */
  reached: Value[] | null;
  rows: number;
  isDone: boolean;
}

export async function copyTable({ source, database, table, beganAt, onRows }: CopyTableParts): Promise<void> {
  let progress = await readProgress(database, table);
  onRows(progress.rows);
  if (progress.isDone) return;
  const insert = await insertStatement(database, table);
  while (!progress.isDone) {
    const rows = readRows(source, table, progress.reached);
    const last = rows.at(-1);
    const next: Progress = {
      reached: last ? table.key.map((column) => last[column] ?? null) : progress.reached,
      rows: progress.rows + rows.length,
      isDone: last === undefined,
    };
    await database.transaction(async (client) => {
      if (rows.length > 0) await client.query(insert, columnArrays(table, rows, beganAt));
      await writeProgress(client, table, next);
    });
    progress = next;
    onRows(progress.rows);
  }
}

async function readProgress(database: Database, { name }: CopiedTable): Promise<Progress> {
  const [row] = await database.query<{ reached: string; rows: number; is_done: boolean }>(
    "SELECT reached, rows, is_done FROM store_copy_tables WHERE table_name = $1",
    [name],
  );
  return row ? { reached: JSON.parse(row.reached), rows: row.rows, isDone: row.is_done } : { reached: null, rows: 0, isDone: false };
}

async function writeProgress(client: PoolClient, { name }: CopiedTable, { reached, rows, isDone }: Progress): Promise<void> {
  await client.query(
    `INSERT INTO store_copy_tables (table_name, reached, rows, is_done) VALUES ($1, $2, $3, $4)
     ON CONFLICT (table_name) DO UPDATE SET reached = excluded.reached, rows = excluded.rows, is_done = excluded.is_done`,
    [name, JSON.stringify(reached), rows, isDone],
  );
}

/** Arrays, one for each column, with the types of the target. */
async function insertStatement(database: Database, { name, columns, derived }: CopiedTable): Promise<string> {
  const rows = await database.query<{ name: string; type: string }>(
    "SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0",
    [name],
  );
  const types = new Map(rows.map((row) => [row.name, row.type]));
  const names = Object.keys({ ...columns, ...derived });
  const arrays = names.map((column, index) => `$${index + 1}::${types.get(column)}[]`);
  return `INSERT INTO ${name} (${names.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})`;
}

function readRows(source: DatabaseSync, { name, key, columns, derived = {} }: CopiedTable, reached: Value[] | null): SourceRow[] {
  const found = Object.entries(derived).map(([column, expression]) => `${expression} AS ${column}`);
  const wanted = new Set([...Object.values(columns), ...key, ...found]);
  const keys = key.join(", ");
  const after = reached ? `WHERE (${keys}) > (${key.map(() => "?").join(", ")})` : "";
  const rows: SourceRow[] = [];
  let units = 0;
  const statement = source.prepare(`SELECT ${[...wanted].join(", ")} FROM ${name} ${after} ORDER BY ${keys}`);
  for (const row of statement.iterate(...(reached ?? [])) as Iterable<SourceRow>) {
    rows.push(row);
    for (const value of Object.values(row)) if (typeof value === "string") units += value.length;
    if (rows.length >= ROWS_MAX || units >= TEXT_UNITS_MAX) break;
  }
  return rows;
}

function columnArrays({ columns, derived = {}, convert }: CopiedTable, rows: readonly SourceRow[], beganAt: number): Value[][] {
  const own = Object.keys(derived).map((column) => [column, column] as const);
  return [...Object.entries(columns), ...own].map(([column, from]) => {
    const converted = convert?.[column];
    return rows.map((row) => (converted ? converted(row[from] ?? null, row, beganAt) : (row[from] ?? null)));
  });
}
