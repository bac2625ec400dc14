/**
 * Moves an environment until it has switched. Each call works for a short time and can be repeated after a crash anywhere: what is done is
 * recorded in the database where it was done.
 *
 *   record changes ─▶ clean the target ─▶ copy all tables ─▶ copy changes until few are left
 *     ─▶ hold ─▶ copy the last changes ─▶ compare ─▶ seal ─▶ switch
 *
 * If the hold would last too long, writes go on and changes are copied again.
 */

import { CommitUnknown, type Database } from "../../postgres/database.ts";
import { tablesThatDiffer } from "./compare.ts";
import { type MoveRow, switchEnvironment } from "./directory.ts";
import { insertMoveJob, noteProgress, readMoveJob } from "./move-job.ts";
import { type MovePoint, MoveRefused, type MoveSide } from "./move-parts.ts";
import { type MovedTable, movedTables } from "./moved-tables.ts";
import { removeSome } from "./remove-rows.ts";
import { moveSequences } from "./sequences.ts";
import { adoptSide, beginSource, holdSource, releaseSource, sealSource } from "./source.ts";
import {
  beginTarget,
  CHANGES_MAX,
  copyAgain,
  copyBatch,
  copyChanges,
  copyEnvironment,
  noteReady,
  prepareArrival,
  readProgress,
  writing,
} from "./target.ts";

export interface MoveTiming {
  /** How long one call works, about. */
  workMs: number;
  /** How long writes are refused at most, unless the node dies while the directory commits. */
  holdMs: number;
  /** How long after the switch the old rows stay and writes there are refused, for nodes that do not know it yet. */
  fenceMs: number;
}

export interface MoveParts {
  directory: Database;
  source: MoveSide;
  target: MoveSide;
  timing: MoveTiming;
  atPoint(point: MovePoint): Promise<void>;
}

export type MoveOutcome = "more" | "cancelled" | "switched";

/** The share of a hold that the last changes may take. */
const CATCH_UP_SHARE = 0.2;
/** The seal must be written before the hold expires. */
const SEAL_MARGIN_MS = 500;
const TOO_LONG = "writes could not be held long enough for the last changes";
/** The share of a hold after which the last changes and the comparison must be done. */
const HOLD_SHARE = 0.6;

export async function moveEnvironment(parts: MoveParts, row: MoveRow): Promise<MoveOutcome> {
  const { source, target, timing, atPoint } = parts;
  const deadline = performance.now() + timing.workMs;
  const begun = await adoptSide(source);
  if (!begun?.is_ready) {
    await refuseOtherSchema(source.database, target.database);
    await insertMoveJob(source.database, { ...source, filter: row.filter, beganAt: row.began_at });
    await atPoint("recorded");
    await beginSource(source);
    await atPoint("changes are recorded");
  }
  if ((await readMoveJob(source))?.status !== "running") return "cancelled";
  const tables = await movedTables(source.database);
  if (!(await prepareTarget(parts, tables, deadline))) return "more";
  if (!(await copyAll(parts, tables, deadline))) return "more";
  while (!(await isCaughtUp(parts, tables))) if (performance.now() > deadline) return "more";
  return holdAndSwitch(parts, row, tables);
}

/** Copies changes. What came meanwhile takes about as long while the environment is held. */
async function isCaughtUp({ source, target, timing }: MoveParts, tables: readonly MovedTable[]): Promise<boolean> {
  const began = performance.now();
  const changes = await copyChanges(source, target, tables);
  return changes < CHANGES_MAX && performance.now() - began < timing.holdMs * CATCH_UP_SHARE;
}

async function refuseOtherSchema(one: Database, other: Database): Promise<void> {
  const read = async (database: Database) => (await database.query<{ version: number }>("SELECT version FROM schema_version"))[0]?.version;
  const [here, there] = [await read(one), await read(other)];
  if (here !== there)
    throw new MoveRefused(`The databases have different schemas (${here} and ${there}): all nodes must be of one release.`);
}

/** Removes what earlier moves left at the target. Returns whether nothing of it is left. */
async function prepareTarget(
  { directory, source, target, atPoint }: MoveParts,
  tables: readonly MovedTable[],
  deadline: number,
): Promise<boolean> {
  const known = await adoptSide(target);
  if (known?.is_ready) return true;
  if (!known) await beginTarget(target);
  const { database, environmentId } = target;
  for (let removed = 1; ; ) {
    await writing(target, async (client) => (removed = await removeSome(client, tables, environmentId)));
    if (removed === 0) break;
    if (performance.now() > deadline) return false;
  }
  if (database !== directory) await copyEnvironment(directory, database, environmentId);
  await noteProgress(source, 0, await countRows(source, tables));
  await noteReady(target);
  await atPoint("target is ready");
  return true;
}

async function countRows({ database, environmentId }: MoveSide, tables: readonly MovedTable[]): Promise<number> {
  let rows = 0;
  for (const { name } of tables) {
    const [row] = await database.query<{ rows: number }>(
      `SELECT count(*) AS rows FROM ${name} WHERE environment_id = $1`,
      [environmentId],
      "maintenance",
    );
    rows += row?.rows ?? 0;
  }
  return rows;
}

/** Returns whether everything is copied. */
async function copyAll({ source, target, atPoint }: MoveParts, tables: readonly MovedTable[], deadline: number): Promise<boolean> {
  const progress = await readProgress(target);
  let done = [...progress.values()].reduce((sum, { rows }) => sum + rows, 0);
  const left = tables.filter(({ name }) => !progress.get(name)?.is_done);
  const isNotCopied = () => noteProgress(source, done).then(() => false);
  for (const table of left) {
    for (let reached = progress.get(table.name)?.reached ?? null, isDone = false; !isDone; ) {
      const batch = await copyBatch(source.database, target, table, reached);
      done += batch.rows.length;
      isDone = batch.isLast;
      reached = batch.reached;
      if (performance.now() > deadline && !isDone) return isNotCopied();
    }
    if (table === tables[Math.floor(tables.length / 2)]) await atPoint("half is copied");
    if (performance.now() > deadline && table !== left.at(-1)) return isNotCopied();
  }
  if (left.length === 0) return true;
  await noteProgress(source, done);
  await atPoint("all is copied");
  return true;
}

async function holdAndSwitch(parts: MoveParts, row: MoveRow, tables: readonly MovedTable[]): Promise<MoveOutcome> {
  const { directory, source, target, timing, atPoint } = parts;
  try {
    const outcome = await holdAndCompare(parts, tables, performance.now() + timing.holdMs * HOLD_SHARE);
    if (outcome === "cancelled") {
      await releaseSource(source);
      return outcome;
    }
    // Before the numbers of the target move on: those that it gives to later events are above these, and are counted as usual.
    const counted = await uncounted(source);
    await moveSequences(source.database, target.database);
    await prepareArrival(target, counted);
    if (!(await sealSource(source, SEAL_MARGIN_MS))) throw new Error(TOO_LONG);
    await atPoint("sealed");
    await switchEnvironment(directory, row);
    return "switched";
  } catch (error) {
    // The directory may have committed: the environment stays refused here until it says so.
    if (!(error instanceof CommitUnknown)) await releaseSource(source).catch(() => undefined);
    throw error;
  }
}

async function holdAndCompare(
  { source, target, timing, atPoint }: MoveParts,
  tables: readonly MovedTable[],
  deadline: number,
): Promise<"compared" | "cancelled"> {
  if (!(await holdSource(source, timing.holdMs))) throw new Error("transactions that write the environment did not end in time");
  await atPoint("held");
  while ((await copyChanges(source, target, tables)) > 0) if (performance.now() > deadline) throw new Error(TOO_LONG);
  await atPoint("last changes are copied");
  if ((await readMoveJob(source))?.status !== "running") return "cancelled";
  const differ = await tablesThatDiffer([source.database, target.database], tables, source.environmentId);
  for (const table of differ) await copyAgain(target, table);
  if (differ.length > 0) throw new Error(`the copy differs in ${differ.map(({ name }) => name).join(", ")}`);
  if (performance.now() > deadline) throw new Error(TOO_LONG);
  await atPoint("compared");
  return "compared";
}

/** The numbers of the events that are not counted yet by type and minute: those of the environment among them are counted when it arrives. */
async function uncounted({ database, environmentId }: MoveSide): Promise<{ from: number; until: number }> {
  const [row] = await database.query<{ from: number; until: number }>(
    `SELECT greatest(counted.sequence, moving.counted_until) AS "from", pg_sequence_last_value('event_sequence') AS until
     FROM event_types_counted AS counted, moving_environments AS moving WHERE moving.environment_id = $1`,
    [environmentId],
  );
  return row ?? { from: 0, until: 0 };
}
