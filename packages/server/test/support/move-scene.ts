/**
 * Two databases, and an environment with rows in every table that moves: made from the schema, so that a new table is there too. Beside it
 * stands another environment, which must not be touched.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { TestContext } from "node:test";
import type { EnvironmentId, JobId } from "@inlet/protocol";
import type { MoveProgress } from "../../src/store/contract/index.ts";
import { type EnvironmentMoveStoreParts, environmentMoveStore } from "../../src/store/moves/postgres/move-store.ts";
import { type MovedTable, movedTables } from "../../src/store/moves/postgres/moved-tables.ts";
import { rowJson } from "../../src/store/moves/postgres/row-text.ts";
import { type Database, PostgresDatabase } from "../../src/store/postgres/database.ts";
import { migratedDatabase } from "./postgres.ts";

export const MOVED = 7 as EnvironmentId;
const OTHER = 8 as EnvironmentId;
const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** Values that the schema demands, and texts that are easily damaged on their way. */
const VALUES: Readonly<Record<string, string>> = {
  "apps.headers": "'service'",
  "functions.app_no": "1",
  "waits.kind": "(ARRAY['event', 'cancel', 'signal'])[n]",
  "ordered_runs.state": "'held'",
  "approvals.status": "'open'",
  "event_schemas.mode": "'warn'",
  "runs.event_nos": "NULL",
  "events.data": `'{"a":"\\u0000 é \\" \uFDD0fdd0"}' || n`,
  "jobs.leased_by": "'someone'",
};
const ROWS = 3;

export interface MoveScene {
  urls: [string, string];
  databases: [Database, Database];
  tables: MovedTable[];
  /** Everything that the environment has in a database, by table. */
  rowsIn(no: number, environmentId?: EnvironmentId): Promise<Record<string, string[]>>;
  placeOf(): Promise<number>;
  begin(to: number, parts?: Partial<EnvironmentMoveStoreParts>): Promise<JobId>;
  /** Works until there is nothing to do, or a step is the last one asked for. Time passes as fast as it must. */
  finish(parts?: Partial<EnvironmentMoveStoreParts>, isLast?: (progress: MoveProgress) => boolean): Promise<MoveProgress[]>;
  jobIn(no: number, id: JobId): Promise<{ status: string; done: number; total: number; errors: string } | undefined>;
}

export async function makeMoveScene(t: TestContext): Promise<MoveScene> {
  const urls = [await migratedDatabase(t), await migratedDatabase(t)] as [string, string];
  const databases = urls.map(openDatabase) as [Database, Database];
  t.after(() => Promise.all(databases.map((database) => database.stop())));
  const [directory] = databases;
  const tables = await movedTables(directory);
  const time = { now: Date.now() };
  for (const [id, name] of [
    [MOVED, "moved"],
    [OTHER, "other"],
  ]) {
    const text = "INSERT INTO environments (environment_id, name, kind, created_at) VALUES ($1, $2, 'custom', 1)";
    await directory.query(text, [id, name]);
  }
  for (const database of databases) await intern(database, database === directory ? 0 : 5);
  for (const table of tables) for (const id of [MOVED, OTHER]) await fill(directory, table, id);
  // The last event is not counted yet.
  await directory.query(`SELECT setval('event_sequence', ${ROWS})`);
  await directory.query("UPDATE event_types_counted SET sequence = $1", [ROWS - 1]);
  // Numbers of the databases differ in their remainder, as those of a real installation do.
  for (const [no, database] of databases.entries()) {
    await database.query(`ALTER SEQUENCE entry_numbers INCREMENT BY 64 RESTART WITH ${64 * (20 - 10 * no) + no}`);
  }
  return {
    urls,
    databases,
    tables,
    rowsIn: async (no, id = MOVED) => rowsOf(databases[no] as Database, tables, id),
    placeOf: async () => {
      const rows = await directory.query<{ no: number }>("SELECT database_no AS no FROM environments WHERE environment_id = $1", [MOVED]);
      return rows[0]?.no as number;
    },
    async begin(to, parts) {
      const jobId = randomUUID() as string as JobId;
      const store = moveStore(databases[0], urls, parts);
      assert.equal(await store.environmentMoveInsert({ environmentId: MOVED, jobId, to, filter: "{}", now: directory.now() }), true);
      await store.stop();
      return jobId;
    },
    finish: (parts, isLast) => finish(directory, urls, time, parts, isLast),
    async jobIn(no, id) {
      const text = "SELECT status, done, total, errors FROM jobs WHERE environment_id = $1 AND job_id = $2";
      return (
        await (databases[no] as Database).query<{ status: string; done: number; total: number; errors: string }>(text, [MOVED, id])
      )[0];
    },
  };
}

export function openDatabase(url: string): Database {
  return new PostgresDatabase({
    url,
    connectionsMax: 10,
    listenUrl: null,
    timeoutMs: 60_000,
    onFault: () => undefined,
    onRecovery: () => undefined,
  });
}

/** Of a node with a name of its own. */
export function moveStore(directory: Database, urls: readonly [string, string], parts: Partial<EnvironmentMoveStoreParts> = {}) {
  return environmentMoveStore({
    directory,
    node: randomUUID(),
    members: async () => [{ no: 1, name: "second", url: urls[1], readUrl: null, createdAt: 0 }],
    ...parts,
  });
}

async function finish(
  directory: Database,
  urls: readonly [string, string],
  time: { now: number },
  parts?: Partial<EnvironmentMoveStoreParts>,
  isLast: (progress: MoveProgress) => boolean = () => false,
): Promise<MoveProgress[]> {
  const store = moveStore(directory, urls, { ...parts, timing: { holdMs: 60_000, ...parts?.timing } });
  const progress: MoveProgress[] = [];
  try {
    // The lease of a node that was killed has expired by then.
    for (;;) {
      time.now += HOUR_MS;
      const one = await store.environmentMoveAdvance({ now: time.now, leaseMs: LEASE_MS });
      if (one) progress.push(one);
      if (!one || isLast(one)) return progress;
    }
  } finally {
    await store.stop();
  }
}

/** The same texts under different numbers. */
async function intern(database: Database, shift: number): Promise<void> {
  for (let n = 1; n <= ROWS + shift; n++) {
    const name = n > ROWS ? `unused ${n}` : `name ${n}`;
    await database.query("INSERT INTO event_names (name_id, name) VALUES ($1, $2)", [n > ROWS ? n - ROWS : n + shift, name]);
    await database.query("INSERT INTO event_sources (source_no, source_kind, source_id) VALUES ($1, 'key', $2)", [
      n > ROWS ? n - ROWS : n + shift,
      name,
    ]);
  }
  await database.query("SELECT setval('event_names_name_id_seq', 1000), setval('event_sources_source_no_seq', 1000)");
}

async function fill(database: Database, { name, columns, key }: MovedTable, environmentId: EnvironmentId): Promise<void> {
  const values = columns.map((column) => {
    if (column.name === "environment_id") return String(environmentId);
    const known = VALUES[`${name}.${column.name}`];
    if (known !== undefined) return known;
    return column.type === "text" ? `'${column.name} ' || n` : `n::${column.type}`;
  });
  const rows = key.length === 0 ? 1 : ROWS;
  const names = columns.map((column) => column.name).join(", ");
  await database.query(`INSERT INTO ${name} (${names}) SELECT ${values.join(", ")} FROM generate_series(1, ${rows}) AS n`);
}

async function rowsOf(database: Database, tables: readonly MovedTable[], id: EnvironmentId): Promise<Record<string, string[]>> {
  const all: Record<string, string[]> = {};
  for (const { name, columns } of tables) {
    const rows = await database.query<{ row: string }>(`SELECT ${rowJson(columns)} AS row FROM ${name} AS t WHERE environment_id = $1`, [
      id,
    ]);
    all[name] = rows.map(({ row }) => row).sort();
  }
  return all;
}
