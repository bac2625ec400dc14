/**
 * Copies rows of one table from one database to another. What is written is what the table then holds: each batch is compared by the
 * checksums of its rows.
 *
 * Rows that are written were read later than any that is there already. So where one conflicts with another row by a unique index, the
 * other has changed at the source since, and is copied again: it is removed here.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { PoolClient } from "pg";
import type { Database } from "../../postgres/database.ts";
import type { MovedTable } from "./moved-tables.ts";
import { interning, PassedJson, rowJson, textOf, valueAt } from "./row-text.ts";

/** The size of one batch: whichever limit is reached first. */
const ROWS_MAX = 1_000;
const BYTES_MAX = 8_000_000;

export interface Batch {
  rows: SourceRow[];
  /** The key of the last row, as JSON; null: there is none. */
  reached: string | null;
  /** There were no more rows. Those that come later are changes. */
  isLast: boolean;
}

interface SourceRow {
  row: string;
  sum: string;
}

export class CopyDiffers extends Error {}

/** The next rows in the order of the key. `reached`: the key of the last one copied. */
export async function readBatch(source: Database, table: MovedTable, environmentId: EnvironmentId, reached: string | null): Promise<Batch> {
  const { name, columns, key } = table;
  const keys = key.map((column) => `t.${column.name}`).join(", ");
  const values = key.map((column, n) => `($2::jsonb ->> ${n})::${column.type}`).join(", ");
  const after = key.length > 0 ? `AND (${keys}) > (${values})` : "AND $2::jsonb IS NULL";
  const order = key.length > 0 ? `ORDER BY ${keys}` : "";
  const text = `
    SELECT row::varchar, md5(row) AS sum, reached::varchar, walked FROM (
      SELECT row, reached, n, count(*) OVER () AS walked, sum(octet_length(row)) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) AS bytes FROM (
        SELECT ${rowJson(columns)} AS row, json_build_array(${keys})::text AS reached, row_number() OVER (${order}) AS n
        FROM ${name} AS t WHERE t.environment_id = $1 ${reached === null ? "" : after} ${order} LIMIT ${ROWS_MAX}) AS walked) AS sized
    WHERE bytes <= ${BYTES_MAX} OR n = 1 ORDER BY n`;
  const rows = await source.query<SourceRow & { reached: string; walked: number }>(
    text,
    [environmentId, ...passed(reached)],
    "maintenance",
  );
  const walked = rows[0]?.walked ?? 0;
  return { rows, reached: rows.at(-1)?.reached ?? null, isLast: walked < ROWS_MAX && rows.length === walked };
}

export interface FoundKeys {
  /** How many of the keys were looked for: at least one. */
  examined: number;
  rows: SourceRow[];
  /** Those examined, with what their interned numbers stand for. */
  keys: string[];
}

/** The rows with these keys, as they are, within the size of a batch. */
export async function readKeys(
  source: PoolClient,
  table: MovedTable,
  environmentId: EnvironmentId,
  keys: readonly string[],
): Promise<FoundKeys> {
  const { name, columns, key } = table;
  const same = key.map((column, n) => `t.${column.name} = (k.key ->> ${n})::${column.type}`);
  const texts = key.map((column, n) => textOf(column, `(k.key ->> ${n})::${column.type}`)).join(", ");
  const text = `
    SELECT row::varchar, md5(row) AS sum, key::varchar FROM (
      SELECT row, key, n, sum(coalesce(octet_length(row), 0)) OVER (ORDER BY n ROWS UNBOUNDED PRECEDING) AS bytes FROM (
        SELECT CASE WHEN t.environment_id IS NOT NULL THEN ${rowJson(columns)} END AS row, json_build_array(${texts})::text AS key, k.n
        FROM jsonb_array_elements($2::jsonb) WITH ORDINALITY AS k(key, n)
        LEFT JOIN ${name} AS t ON ${["t.environment_id = $1", ...same].join(" AND ")} OFFSET 0) AS found) AS sized
    WHERE bytes <= ${BYTES_MAX} OR n = 1 ORDER BY n`;
  const { rows: found } = await source.query<SourceRow & { key: string }>(text, [environmentId, new PassedJson(keys)]);
  return { examined: found.length, rows: found.filter(({ row }) => row !== null), keys: found.map((row) => row.key) };
}

/** Before the transaction that writes the rows: inside it, every other transaction with the same new name would wait for its commit. */
export async function internRows(target: Database, table: MovedTable, rows: readonly SourceRow[]): Promise<void> {
  if (rows.length === 0) return;
  for (const statement of interning(table)) await target.query(statement, [jsonOf(rows)], "maintenance");
}

/**
 * Writes rows, in place of those with `keys`: a key without a row is that of a row that is gone. Every statement is sent before it returns
 * for the first time: tables that are written at once are written in the order of the calls.
 */
export async function writeRows(
  client: PoolClient,
  table: MovedTable,
  environmentId: EnvironmentId,
  { rows, keys = [] }: { rows: readonly SourceRow[]; keys?: readonly string[] },
): Promise<void> {
  const json = jsonOf(rows);
  const removals: Promise<unknown>[] = [];
  if (keys.length > 0) removals.push(client.query(removeKeys(table), [environmentId, new PassedJson(keys), json]));
  if (rows.length === 0) return void (await Promise.all(removals));
  if (!table.isKeyUnique) removals.push(client.query(removeSame(table), [json]));
  for (const statement of removeConflicts(table)) removals.push(client.query(statement, [json]));
  const [{ rows: written }] = await Promise.all([client.query<{ sum: string }>(insertRows(table), [json]), ...removals]);
  const sums = (those: readonly { sum: string }[]) => those.map(({ sum }) => sum).sort();
  if (sums(written).join() !== sums(rows).join()) throw new CopyDiffers(`rows of ${table.name} differ from those that were copied`);
}

function jsonOf(rows: readonly SourceRow[]): PassedJson {
  return new PassedJson(rows.map(({ row }) => row));
}

function passed(json: string | null): unknown[] {
  return json === null ? [] : [{ toPostgres: () => json }];
}

/** The rows of `$1`, with the columns of the table. */
function incoming({ columns }: MovedTable, parameter = "$1"): string {
  const values = columns.map((column, n) => `${valueAt(column, "r.row", n)} AS ${column.name}`);
  return `SELECT ${values.join(", ")} FROM jsonb_array_elements(${parameter}::jsonb) AS r(row)`;
}

/** `$2`: keys. Those of the rows of `$3` are left: they are replaced, and others may refer to them. */
function removeKeys(table: MovedTable): string {
  const { name, key } = table;
  const same = (other: string) => key.map((column) => `t.${column.name} = ${other}.${column.name}`);
  const values = key.map((column, n) => `${valueAt(column, "k.key", n)} AS ${column.name}`);
  return `
    WITH incoming AS MATERIALIZED (${incoming(table, "$3")}),
      gone AS MATERIALIZED (SELECT ${["1", ...values].join(", ")} FROM jsonb_array_elements($2::jsonb) AS k(key))
    DELETE FROM ${name} AS t USING gone WHERE ${["t.environment_id = $1", ...same("gone")].join(" AND ")}
      AND NOT EXISTS (SELECT FROM incoming WHERE ${["t.environment_id = incoming.environment_id", ...same("incoming")].join(" AND ")})`;
}

/** For a table whose key no unique index keeps unique. */
function removeSame(table: MovedTable): string {
  const same = ["environment_id", ...table.key.map(({ name }) => name)].map((name) => `t.${name} = incoming.${name}`);
  return `WITH incoming AS MATERIALIZED (${incoming(table)}) DELETE FROM ${table.name} AS t USING incoming WHERE ${same.join(" AND ")}`;
}

function removeConflicts(table: MovedTable): string[] {
  const keyNames = ["environment_id", ...table.key.map(({ name }) => name)].join(", ");
  return table.uniques.map(({ parts, condition }) => {
    const those = `SELECT ${parts.join(", ")} FROM incoming ${condition === null ? "" : `WHERE ${condition}`}`;
    const where = [`(${parts.join(", ")}) IN (${those})`, ...(condition === null ? [] : [condition])];
    return `
      WITH incoming AS MATERIALIZED (${incoming(table)})
      DELETE FROM ${table.name} WHERE ${where.join(" AND ")} AND (${keyNames}) NOT IN (SELECT ${keyNames} FROM incoming)`;
  });
}

function insertRows(table: MovedTable): string {
  const { name, columns, key, isKeyUnique } = table;
  const names = columns.map((column) => column.name);
  const keyNames = ["environment_id", ...key.map((column) => column.name)];
  const others = names.filter((column) => !keyNames.includes(column));
  const changed = others.length > 0 ? others : ["environment_id"];
  const conflict = `ON CONFLICT (${keyNames.join(", ")}) DO UPDATE SET ${changed.map((column) => `${column} = excluded.${column}`).join(", ")}`;
  return `
    WITH incoming AS MATERIALIZED (${incoming(table)})
    INSERT INTO ${name} AS t (${names.join(", ")}) SELECT ${names.join(", ")} FROM incoming ${isKeyUnique ? conflict : ""}
    RETURNING md5(${rowJson(columns)}) AS sum`;
}
