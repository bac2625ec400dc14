/** Apps and their functions in PostgreSQL. Few rows, read whole. */

import type { AppId, EntryNo, EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { PoolClient } from "pg";
import { type App, type AppStore, type AppSyncParams, type NewFunction, TIMER_LANE } from "../contract/index.ts";
import type { Database } from "../postgres/database.ts";
import type { Announced } from "../postgres/nodes/announce.ts";
import { type Notices, noNotices, noteLane } from "../postgres/pending-writes.ts";
import { isSameRegistration, planSchedules, type RegisteredFunction, type ScheduleEntry } from "./policy.ts";
import { type AppRow, toApp, toFunction } from "./rows.ts";

const WRITE_APP = `
  INSERT INTO apps (app_id, environment_id, name, url, sdk, headers, framework, checksum, created_at, synced_at, signing_key_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10)
  ON CONFLICT (environment_id, name) DO UPDATE SET
    url = $4, sdk = $5, headers = $6, framework = $7, checksum = $8, synced_at = $9, signing_key_id = $10, error = NULL, removed_at = NULL
  RETURNING *`;
const WRITE_FUNCTION = `
  INSERT INTO functions (environment_id, app_no, function_id, name, config, created_at, updated_at)
  VALUES ($1, $2, $3, $4, $5, $6, $6)
  ON CONFLICT (environment_id, function_id) DO UPDATE SET app_no = $2, name = $4, config = $5, updated_at = $6, archived_at = NULL
  RETURNING function_no`;
const PAUSE = `
  UPDATE functions SET paused_at = CASE WHEN $1::bigint IS NULL THEN NULL ELSE coalesce(paused_at, $1) END
  WHERE environment_id = $2 AND function_no = $3 AND ($1::bigint IS NULL OR archived_at IS NULL)`;
/** A function that comes from another app brings its schedules along. */
const WRITE_CRON = `
  INSERT INTO queue (entry_no, environment_id, lane, home_lane, rank, home_rank, due_at, kind, function_no, subject)
  VALUES (nextval('entry_numbers'), $1, '${TIMER_LANE}', '${TIMER_LANE}', $2, $2, $2, 'cron', $3, $4)
  ON CONFLICT (environment_id, function_no, kind, md5(subject)) WHERE subject IS NOT NULL DO NOTHING`;

export interface AppStoreParts {
  database: Database;
  announced: Announced;
  notify(notices: Notices): void;
}

export function appStore({ database, announced, notify }: AppStoreParts): AppStore {
  async function sync(client: PoolClient, params: AppSyncParams): Promise<{ app: App; modified: boolean }> {
    const { id, environmentId, name, url, sdk, headers, framework, checksum, syncedAt, signingKeyId } = params;
    // The app may not exist yet, so there is no row to lock: this lock serialises nodes that sync the same app.
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, $2))", [`app ${name}`, environmentId]);
    const text = "SELECT * FROM apps WHERE environment_id = $1 AND name = $2";
    const found = (await client.query<AppRow>(text, [environmentId, name])).rows[0];
    const known = found ? toApp(found) : null;
    if (known && isSameRegistration(known, checksum)) {
      const touched = await client.query<AppRow>(
        "UPDATE apps SET synced_at = $1, signing_key_id = $4, error = NULL WHERE environment_id = $2 AND app_no = $3 RETURNING *",
        [syncedAt, environmentId, known.no, signingKeyId],
      );
      return { app: toApp(touched.rows[0] as AppRow), modified: false };
    }
    const values = [id, environmentId, name, url, sdk, headers, framework, checksum, syncedAt, signingKeyId];
    const app = toApp((await client.query<AppRow>(WRITE_APP, values)).rows[0] as AppRow);
    const schedules = await schedulesOf(client, app);
    await archive(client, app, syncedAt);
    const registered: RegisteredFunction[] = [];
    for (const one of params.functions) registered.push(await register(client, app, one, syncedAt));
    const { added, removed } = planSchedules(schedules, registered);
    for (const { functionNo, cron, dueAt } of added) {
      await client.query(WRITE_CRON, [environmentId, dueAt, functionNo, cron]);
    }
    await removeEntries(client, app, removed);
    return { app, modified: true };
  }

  return {
    appList: async () => (await database.query<AppRow>("SELECT * FROM apps ORDER BY app_no")).map(toApp),
    functionList: async () => (await database.query<AppRow>("SELECT * FROM functions ORDER BY function_no")).map(toFunction),
    async appSync(params) {
      const synced = await announced("registry", (client) => sync(client, params));
      const notices = noNotices();
      for (const { crons } of params.functions) for (const { dueAt } of crons) noteLane(notices, TIMER_LANE, dueAt);
      notify(notices);
      return synced;
    },
    async functionPause({ environmentId, functionNo, pausedAt }) {
      const values = [pausedAt, environmentId, functionNo];
      await announced("registry", (client) => client.query(PAUSE, values));
    },
    async functionLimit({ environmentId, functionNo, limits }) {
      const values = [limits && JSON.stringify(limits), environmentId, functionNo];
      await announced("registry", (client) =>
        client.query("UPDATE functions SET limits = $1 WHERE environment_id = $2 AND function_no = $3", values),
      );
    },
    async appFault({ environmentId, url, error }) {
      const values = [error, environmentId, url];
      await announced("registry", (client) =>
        client.query("UPDATE apps SET error = $1 WHERE environment_id = $2 AND url = $3 AND removed_at IS NULL", values),
      );
    },
    appRemove: ({ environmentId, id, removedAt }) => announced("registry", (client) => remove(client, environmentId, id, removedAt)),
  };
}

async function register(client: PoolClient, { environmentId, no }: App, registered: NewFunction, now: number): Promise<RegisteredFunction> {
  const { id, name, config, crons } = registered;
  const values = [environmentId, no, id, name, config, now];
  const { rows } = await client.query<{ function_no: FunctionNo }>(WRITE_FUNCTION, values);
  return { functionNo: rows[0]?.function_no as FunctionNo, crons };
}

const END_PAUSES = "UPDATE functions SET paused_at = NULL WHERE environment_id = $1 AND app_no = $2 AND paused_at IS NOT NULL";

async function remove(client: PoolClient, environmentId: EnvironmentId, id: AppId, removedAt: number): Promise<App | null> {
  const { rows } = await client.query<AppRow>(
    "UPDATE apps SET removed_at = $1 WHERE environment_id = $2 AND app_id = $3 AND removed_at IS NULL RETURNING *",
    [removedAt, environmentId, id],
  );
  if (!rows[0]) return null;
  const app = toApp(rows[0]);
  const schedules = await schedulesOf(client, app);
  await removeEntries(
    client,
    app,
    schedules.map(({ entryNo }) => entryNo),
  );
  await archive(client, app, removedAt);
  // Runs that waited end, as the others do.
  await client.query(END_PAUSES, [environmentId, app.no]);
  return app;
}

/** The entries of an app's schedules. */
async function schedulesOf(client: PoolClient, { environmentId, no }: App): Promise<ScheduleEntry[]> {
  const { rows } = await client.query<{ entry_no: EntryNo; function_no: FunctionNo; subject: string }>(
    `SELECT entry_no, function_no, subject FROM functions JOIN queue USING (environment_id, function_no)
     WHERE environment_id = $1 AND app_no = $2 AND queue.kind = 'cron' AND subject IS NOT NULL`,
    [environmentId, no],
  );
  return rows.map(({ entry_no, function_no, subject }) => ({ entryNo: entry_no, functionNo: function_no, cron: subject }));
}

async function removeEntries(client: PoolClient, { environmentId }: App, entryNos: readonly EntryNo[]): Promise<void> {
  await client.query("DELETE FROM queue WHERE environment_id = $1 AND entry_no = ANY ($2::bigint[])", [environmentId, entryNos]);
}

/** Its functions no longer start runs. */
async function archive(client: PoolClient, { environmentId, no }: App, now: number): Promise<void> {
  await client.query("UPDATE functions SET archived_at = $1 WHERE environment_id = $2 AND app_no = $3 AND archived_at IS NULL", [
    now,
    environmentId,
    no,
  ]);
}
