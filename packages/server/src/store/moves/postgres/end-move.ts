/** What follows the switch of a move, or its end without one. Each can be repeated after a crash anywhere. */

import assert from "node:assert/strict";
import { type MoveRow, readPlace } from "./directory.ts";
import type { MoveParts } from "./move-environment.ts";
import { failMoveJob, insertMoveJob } from "./move-job.ts";
import { MoveLost, type MoveSide } from "./move-parts.ts";
import { movedTables } from "./moved-tables.ts";
import { removeSome } from "./remove-rows.ts";
import { adoptSide, endSource, noteLeft, releaseSource } from "./source.ts";
import { arrive, endTarget } from "./target.ts";

/** The new place first: the environment waits for it. */
export async function finishSwitch({ source, target, atPoint }: MoveParts): Promise<void> {
  await atPoint("switched");
  await arrive(target);
  await atPoint("arrived");
  if (await adoptSide(source)) await noteLeft(source);
}

/** No node can still mean to read or write in the old place. Returns whether old rows are left. */
export async function forget({ source, timing, atPoint }: MoveParts): Promise<boolean> {
  const known = await adoptSide(source);
  // It came back: the next move removes what is there.
  if (!known) return false;
  if (await removeWithin(source, "left", timing.workMs, () => atPoint("half is forgotten"))) return true;
  await atPoint("forgotten");
  await endSource(source);
  return false;
}

/** Writes go on in the old place before anything else. */
export async function abort({ source }: MoveParts, { filter, began_at: beganAt }: MoveRow): Promise<void> {
  if (await adoptSide(source)) await releaseSource(source);
  // An attempt to store the job that PostgreSQL still executes has no effect after this.
  await insertMoveJob(source.database, { ...source, filter, beganAt });
  await endSource(source);
}

/** Returns whether copied rows are left. The job has failed from the moment on at which another move can begin, however long this takes. */
export async function clear({ directory, source, target, timing }: MoveParts, { error, to_no }: MoveRow): Promise<boolean> {
  if (error !== null) await failMoveJob(source, error);
  if (!(await adoptSide(target))) return false;
  assert.notEqual(await readPlace(directory, target.environmentId), to_no, "the environment is where its copied rows are to be removed");
  if (await removeWithin(target, "arriving", timing.workMs)) return true;
  await endTarget(target);
  return false;
}

/** Returns whether rows are left when the time is over. */
async function removeWithin(side: MoveSide, role: string, workMs: number, onRemoved?: () => Promise<void>): Promise<boolean> {
  const { database, environmentId, jobId, epoch } = side;
  const tables = await movedTables(database);
  const deadline = performance.now() + workMs;
  const check = "SELECT FROM moving_environments WHERE environment_id = $1 AND job_id = $2 AND epoch = $3 AND role = $4 FOR UPDATE";
  while (performance.now() <= deadline) {
    const removed = await database.transaction(async (client) => {
      const { rowCount } = await client.query(check, [environmentId, jobId, epoch, role]);
      if (rowCount === 0) throw new MoveLost("the environment is not to be removed here");
      return removeSome(client, tables, environmentId);
    }, "maintenance");
    if (removed === 0) return false;
    await onRemoved?.();
  }
  return true;
}
