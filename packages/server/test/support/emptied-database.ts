/**
 * Empties a database while its store stays open: to open a store, and to use a statement in a new connection, costs more than most tests.
 * What the open store knows of its database stays: its registration, its secrets, the other databases, and the numbers of names, which are
 * never removed.
 */

import { Client } from "pg";

const KEPT = [
  "schema_version",
  "nodes",
  "probe",
  "databases",
  "installation",
  "encryption_key",
  "store_secrets",
  "event_names",
  "event_sources",
  "time_partitions",
  "event_shapes_read",
  "event_types_counted",
];
/** The newest first: they refer to older ones. */
const TABLES = `
  SELECT relname AS name FROM pg_class
  WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> ALL ($1)
  ORDER BY oid DESC`;
/** An environment of another test has another number: a store may count by it in memory. */
const SEQUENCES = `
  SELECT sequencename AS name, coalesce(last_value, start_value) AS value, last_value IS NOT NULL AS is_called FROM pg_sequences
  WHERE schemaname = current_schema() AND sequencename !~ '^(event_names|event_sources|environments)_'`;
/** What is not restored: tables, steps of sequences, partitions, databases. */
const SCHEMA = `
  SELECT concat_ws(' ', (SELECT count(*) || ' ' || max(oid) FROM pg_class WHERE relnamespace = current_schema()::regnamespace),
    (SELECT sum(seqincrement) FROM pg_sequence), (SELECT count(*) FROM time_partitions), (SELECT count(*) FROM databases)) AS schema`;
const RESET = `
  UPDATE event_shapes_read SET sequence = 0 WHERE sequence > 0;
  UPDATE event_types_counted SET sequence = 0 WHERE sequence > 0;`;

export interface EmptiedDatabase {
  /** Removes the rows, and lets numbers begin again. False: more than rows has changed, so the database cannot be used again. */
  empty(): Promise<boolean>;
  close(): Promise<void>;
}

/** Of a database without rows of tests, whose store is open. */
export async function emptiedDatabase(url: string): Promise<EmptiedDatabase> {
  const client = new Client({ connectionString: url });
  // A statement that needs the connection fails; that it ended before is no failure of a test.
  client.on("error", () => {});
  await client.connect();
  const schemaNow = async () => (await client.query<{ schema: string }>(SCHEMA)).rows[0]?.schema;
  const schema = await schemaNow();
  const { rows: tables } = await client.query<{ name: string }>(TABLES, [KEPT]);
  const { rows: sequences } = await client.query<{ name: string; value: string; is_called: boolean }>(SEQUENCES);
  const removals = tables.map(({ name }) => `DELETE FROM ${name};`);
  const restarts = sequences.map(({ name, value, is_called }) => `PERFORM setval('${name}', ${value}, ${is_called});`);
  // A function: its statements are planned once.
  await client.query(`
    CREATE FUNCTION pg_temp.empty_database() RETURNS void LANGUAGE plpgsql AS $$ BEGIN
      ${[...removals, ...restarts].join("\n")} ${RESET}
    END $$`);
  return {
    async empty() {
      if ((await schemaNow()) !== schema) return false;
      await client.query("SELECT pg_temp.empty_database()");
      return true;
    },
    close: () => client.end(),
  };
}
