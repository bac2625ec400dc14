/** Apps and their functions in SQLite. Few rows, read whole. */

import type { DatabaseSync } from "node:sqlite";
import type { AppId, EntryNo, EnvironmentId, FunctionNo } from "@inlet/protocol";
import { type App, type AppStore, type AppSyncParams, type NewFunction, TIMER_LANE } from "../contract/index.ts";
import { LeaseAllocation } from "../queue/policy/lease-allocation.ts";
import type { QueueEntries } from "../queue/sqlite/queue-entries.ts";
import type { GroupCommit } from "../sqlite/group-commit.ts";
import { isSameRegistration, planSchedules, type RegisteredFunction, type ScheduleChanges, type ScheduleEntry } from "./policy.ts";
import { type AppRow, toApp, toFunction } from "./rows.ts";

export function appStore(db: DatabaseSync, writer: GroupCommit, entries: QueueEntries): AppStore {
  const listApps = db.prepare("SELECT * FROM apps ORDER BY app_no");
  const listFunctions = db.prepare("SELECT * FROM functions ORDER BY function_no");
  const findApp = db.prepare("SELECT * FROM apps WHERE environment_id = ? AND name = ?");
  const writeApp = db.prepare(`
    INSERT INTO apps (app_id, environment_id, name, url, sdk, headers, framework, checksum, created_at, synced_at, signing_key_id)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9, ?10)
    ON CONFLICT (environment_id, name) DO UPDATE SET
      url = ?4, sdk = ?5, headers = ?6, framework = ?7, checksum = ?8, synced_at = ?9, signing_key_id = ?10, error = NULL, removed_at = NULL
    RETURNING *`);
  const touchApp = db.prepare("UPDATE apps SET synced_at = ?, signing_key_id = ?, error = NULL WHERE app_no = ? RETURNING *");
  const faultApp = db.prepare("UPDATE apps SET error = ? WHERE environment_id = ? AND url = ? AND removed_at IS NULL");
  const removeApp = db.prepare("UPDATE apps SET removed_at = ? WHERE environment_id = ? AND app_id = ? AND removed_at IS NULL RETURNING *");
  const archive = db.prepare("UPDATE functions SET archived_at = ? WHERE app_no = ? AND archived_at IS NULL");
  const endPauses = db.prepare("UPDATE functions SET paused_at = NULL WHERE app_no = ? AND paused_at IS NOT NULL");
  const crons = db.prepare(`
    SELECT entry_no, function_no, subject FROM functions CROSS JOIN queue INDEXED BY queue_by_subject USING (function_no)
    WHERE app_no = ? AND kind = 'cron' AND subject IS NOT NULL`);
  const findCron = db.prepare("SELECT 1 FROM queue INDEXED BY queue_by_subject WHERE function_no = ? AND kind = 'cron' AND subject = ?");
  const dropCron = db.prepare("DELETE FROM queue WHERE entry_no = ?");
  const writeFunction = db.prepare(`
    INSERT INTO functions (environment_id, app_no, function_id, name, config, created_at, updated_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
    ON CONFLICT (environment_id, function_id) DO UPDATE SET app_no = ?2, name = ?4, config = ?5, updated_at = ?6, archived_at = NULL
    RETURNING function_no`);

  const pause = db.prepare(`
    UPDATE functions SET paused_at = iif(?1 IS NULL, NULL, coalesce(paused_at, ?1))
    WHERE environment_id = ?2 AND function_no = ?3 AND (?1 IS NULL OR archived_at IS NULL)`);
  const limit = db.prepare("UPDATE functions SET limits = ? WHERE environment_id = ? AND function_no = ?");

  function sync(params: AppSyncParams): { app: App; modified: boolean } {
    const { id, environmentId, name, url, sdk, headers, framework, checksum, syncedAt, signingKeyId } = params;
    const row = findApp.get(environmentId, name) as AppRow | undefined;
    const known = row ? toApp(row) : null;
    if (known && isSameRegistration(known, checksum)) {
      return { app: toApp(touchApp.get(syncedAt, signingKeyId, known.no) as AppRow), modified: false };
    }
    const values = [id, environmentId, name, url, sdk, headers, framework, checksum, syncedAt, signingKeyId];
    const app = toApp(writeApp.get(...values) as AppRow);
    const schedules = schedulesOf(app.no);
    archive.run(syncedAt, app.no);
    const registered = params.functions.map((one) => register(app, one, syncedAt));
    const { added, removed } = planSchedules(schedules, registered);
    for (const schedule of added) addSchedule(app, schedule, syncedAt);
    for (const entryNo of removed) dropCron.run(entryNo);
    return { app, modified: true };
  }

  /** The entries of an app's schedules. */
  function schedulesOf(appNo: number): ScheduleEntry[] {
    const rows = crons.all(appNo) as { entry_no: EntryNo; function_no: FunctionNo; subject: string }[];
    return rows.map(({ entry_no, function_no, subject }) => ({ entryNo: entry_no, functionNo: function_no, cron: subject }));
  }

  function register({ environmentId, no }: App, { id, name, config, crons }: NewFunction, now: number): RegisteredFunction {
    return { functionNo: writeFunction.get(environmentId, no, id, name, config, now)?.function_no as FunctionNo, crons };
  }

  function addSchedule({ environmentId }: App, { functionNo, cron, dueAt }: ScheduleChanges["added"][number], now: number): void {
    // A function that comes from another app brings its schedules along.
    if (findCron.get(functionNo, cron)) return;
    entries.add(new LeaseAllocation(now, undefined), {
      environmentId,
      functionNo,
      dueAt,
      rank: dueAt,
      kind: "cron",
      lane: TIMER_LANE,
      subject: cron,
      runNo: null,
      stepId: null,
      attempt: 0,
      eventSequence: null,
    });
  }

  function remove(environmentId: EnvironmentId, id: AppId, removedAt: number): App | null {
    const row = removeApp.get(removedAt, environmentId, id) as AppRow | undefined;
    if (!row) return null;
    for (const { entryNo } of schedulesOf(row.app_no as number)) dropCron.run(entryNo);
    archive.run(removedAt, row.app_no as number);
    // Runs that waited end, as the others do.
    endPauses.run(row.app_no as number);
    return toApp(row);
  }

  return {
    appList: async () => (listApps.all() as AppRow[]).map(toApp),
    functionList: async () => (listFunctions.all() as AppRow[]).map(toFunction),
    appSync: (params) => writer.submit(() => sync(params), params.functions.length),
    functionPause: ({ environmentId, functionNo, pausedAt }) => writer.submit(() => void pause.run(pausedAt, environmentId, functionNo)),
    functionLimit: ({ environmentId, functionNo, limits }) =>
      writer.submit(() => void limit.run(limits && JSON.stringify(limits), environmentId, functionNo)),
    appFault: ({ environmentId, url, error }) => writer.submit(() => void faultApp.run(error, environmentId, url)),
    appRemove: ({ environmentId, id, removedAt }) => writer.submit(() => remove(environmentId, id, removedAt)),
  };
}
