/**
 * Environments are on different databases, and a sharded PostgreSQL distributes tables by environment: it can keep unique only what begins with it. So every key of a table that
 * holds an environment's data does, and every other index too, unless it is named here with its reason. sharding.md beside it tells how
 * each table would be distributed.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";

const skip = whyNoPostgres() ?? false;

/** On every shard alike, or on one of them only. */
const REFERENCE_TABLES: Record<string, string> = {
  environments: "they are what the others are distributed by",
  keys: "who sends a key does not say the environment: the key leads to it",
  webhook_tokens: "the address of a webhook says nothing but its token, which leads to the environment",
  event_names: "interned ids, of all environments",
  event_sources: "interned ids, of all environments",
  databases: "of the whole service",
  installation: "one row",
  sessions: "people sign in to the service, not to an environment",
  audit_log: "what was done to the service",
  idempotency_keys: "calls of the management interface, by who made them",
  idempotency_key_times: "what these calls are about",
  limit_slots: "a limit may count for all environments together",
  leaders: "which node sweeps",
  event_types_counted: "how far each shard has come",
  event_shapes_read: "how far each shard has come",
  time_partitions: "the partitions of each shard",
  partition_changes: "changes of the partitions of each shard",
  nodes: "nodes work for every environment",
  schema_version: "one row",
  encryption_key: "one row",
  store_secrets: "of the store itself",
  probe: "one row",
  store_copy: "one row, while an embedded store is copied",
  store_copy_tables: "while an embedded store is copied",
};

/** Of tables that hold an environment's data: none is unique, and none is needed to find one thing of one environment. */
const WALKED_ACROSS_ENVIRONMENTS: Record<string, string> = {
  events_by_sequence: "in the order they were stored: types are counted, old ones removed; who looks for one names its environment too",
  webhook_requests_by_sequence: "in the order they were stored: old ones are removed",
  webhook_requests_by_event: "a webhook of all branches records in its own environment: the one of the event does not lead there",
  approvals_by_end: "old ones are removed",
  dedup_keys_by_age: "old ones are removed",
  marks_by_age: "old ones are removed",
  event_type_hours_by_age: "old ones are removed",
  activity_hours_by_age: "old ones are removed",
  usage_hours_by_age: "old ones are removed",
  pending_mirrors_by_event: "the oldest of all environments are copied first",
  jobs_open: "jobs that somebody may work on, of whichever environment",
  queue_by_lane: "a lane is in one environment, which its name does not tell",
  queue_timers: "what is due next, for whichever environment: each shard is asked",
};

interface IndexRow {
  table: string;
  index: string;
  first: string | null;
  unique: boolean;
}

/** Of tables, not of their partitions, which have the same and are held to it below. */
const INDEXES = `
  SELECT t.relname AS table, i.relname AS index, a.attname AS first, x.indisunique AS unique
  FROM pg_index AS x JOIN pg_class AS t ON t.oid = x.indrelid JOIN pg_class AS i ON i.oid = x.indexrelid
  LEFT JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = x.indkey[0]
  WHERE t.relnamespace = 'public'::regnamespace AND (NOT t.relispartition OR x.indisunique)`;
const TABLES = `
  SELECT c.relname AS table,
    EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'environment_id' AND a.attnotnull) AS has_environment
  FROM pg_class AS c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relnamespace = 'public'::regnamespace`;

test("the environment leads every key of what belongs to one", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  const store = await openPatientStore({ url });
  // Partitions of days to come are made by the program, not by a migration.
  await store.retentionMaintain({ now: Date.now(), keptMs: { events: 86_400_000, runs: 86_400_000, requests: 86_400_000 } });
  await store.stop();
  const { tables, indexes } = await inDatabase(url, async (client) => ({
    tables: (await client.query<{ table: string; has_environment: boolean }>(TABLES)).rows,
    indexes: (await client.query<IndexRow>(INDEXES)).rows,
  }));

  const names = tables.map(({ table }) => table);
  assert.deepEqual(
    Object.keys(REFERENCE_TABLES).filter((table) => !names.includes(table)),
    [],
    "every table named here exists",
  );
  const distributed = tables.filter(({ table }) => !(table in REFERENCE_TABLES));
  assert.deepEqual(
    distributed.filter(({ has_environment }) => !has_environment).map(({ table }) => table),
    [],
    "a new table either has its environment in every row, or is named here with the reason",
  );
  assert.ok(distributed.length >= 19, `only ${distributed.length} tables were looked at`);

  // A partition is named for its table.
  const isDistributed = ({ table }: IndexRow) =>
    distributed.some((one) => table === one.table || new RegExp(`^${one.table}_(before|rest|\\d{8})$`).test(table));
  const own = indexes.filter(isDistributed);
  const astray = own.filter(({ first, unique, index }) => first !== "environment_id" && (unique || !(index in WALKED_ACROSS_ENVIRONMENTS)));
  assert.deepEqual(
    astray.map(({ table, index }) => `${table}: ${index}`),
    [],
  );
  assert.ok(own.filter(({ unique }) => unique).length > 40, "partitions were looked at too");
  assert.deepEqual(
    Object.keys(WALKED_ACROSS_ENVIRONMENTS).filter((name) => !own.some(({ index }) => index === name)),
    [],
    "every index named here exists",
  );
  assert.deepEqual(
    tables.map(({ table }) => [table, howDistributed(table)]),
    tables.map(({ table }) => [table, table in REFERENCE_TABLES ? "otherwise" : "by environment"]),
    "sharding.md says of every table how it would be distributed",
  );
  const keyless = distributed.filter(({ table }) => !own.some((index) => index.table === table));
  assert.deepEqual(keyless, []);
});

/** As the section of the document about it says. */
function howDistributed(table: string): string {
  const document = readFileSync(new URL("sharding.md", import.meta.url), "utf8");
  const section = document.slice(document.indexOf("# On several databases"), document.indexOf("| query |"));
  const lines = section.split("\n").filter((line) => line.startsWith("|") && line.split("|")[1]?.includes(`\`${table}\``));
  assert.equal(lines.length, 1, `${table} is in one line of the table`);
  return lines[0]?.includes("distributed by `environment_id`") ? "by environment" : "otherwise";
}
