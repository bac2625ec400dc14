/**
 * A later migration must not be forgotten by the copy: every table and column of the embedded store, and every one of the shared
 * store, is named in copied-tables.ts. If this test fails, say there where the new column comes from.
 */

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { freshDatabase, inDatabase, openPatientStore, whyNoPostgres } from "../../../test/support/postgres.ts";
import { migrate } from "../sqlite/schema/migrate.ts";
import { COPIED_TABLES, SOURCE_LEFT_OUT, TARGET_OWN } from "./copied-tables.ts";

const skip = whyNoPostgres() ?? false;

test("every column of the embedded store goes somewhere", () => {
  const db = new DatabaseSync(":memory:");
  migrate(db);
  const there = db
    .prepare(
      `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`,
    )
    .all() as { table: string; column: string }[];
  db.close();
  const wanted = there.filter(({ table }) => !SOURCE_LEFT_OUT.includes(table)).map(({ table, column }) => `${table}.${column}`);
  const copied = COPIED_TABLES.flatMap(({ name, columns }) => Object.values(columns).map((column) => `${name}.${column}`));
  // Where rows have no number of their own, SQLite's is taken.
  const named = copied.filter((column) => !column.endsWith(".rowid"));
  assert.deepEqual(named.sort(), wanted.sort());
});

test("every column of the shared store is filled, or begins with its default", { skip }, async (t) => {
  const url = await freshDatabase(t);
  await (await openPatientStore({ url })).stop();
  // Partitions are parts of tables.
  const { rows } = await inDatabase(url, (client) =>
    client.query<{ table: string; column: string }>(
      `SELECT c.relname AS "table", a.attname AS "column" FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
       WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped`,
    ),
  );
  const there = rows.filter(({ table }) => !TARGET_OWN.includes(table)).map(({ table, column }) => `${table}.${column}`);
  const filled = COPIED_TABLES.flatMap(({ name, columns, derived = {}, defaults = [] }) =>
    [...Object.keys(columns), ...Object.keys(derived), ...defaults].map((column) => `${name}.${column}`),
  );
  assert.deepEqual(filled.sort(), there.sort());
});
