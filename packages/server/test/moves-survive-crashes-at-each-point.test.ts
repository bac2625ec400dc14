/**
 * A node is killed at each point of a move: the environment is in one place afterwards, with every row, and the move goes on to its end
 * on another node; one that was cancelled leaves the environment where it was.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { MOVE_POINTS, type MovePoint } from "../src/store/moves/postgres/move-parts.ts";
import { MOVED, type MoveScene, makeMoveScene } from "./support/move-scene.ts";
import { whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const PROCESS = new URL("./support/move-process.ts", import.meta.url).pathname;

type Rows = Record<string, string[]>;
const withoutJobs = ({ jobs: _, ...rows }: Rows): Rows => rows;
const countOf = (rows: Rows): number => Object.values(rows).reduce((sum, some) => sum + some.length, 0);

/** Table by table, so that a difference can be read. */
function same(rows: Rows, before: Rows, when: string): void {
  for (const [table, some] of Object.entries(before)) assert.deepEqual(rows[table], some, `${table}: ${when}`);
}

async function killAt({ urls }: MoveScene, point: MovePoint): Promise<void> {
  const child = spawn(process.execPath, [PROCESS, ...urls, point], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(createInterface(child.stdout), "line");
  child.kill("SIGKILL");
  await once(child, "exit");
  assert.equal(line, "reached", `the process stood still where it was asked to: ${point}`);
}

/** A few points in each test: every one takes a process of its own and a whole move. */
const POINTS_PER_TEST = 4;

for (let first = 0; first < MOVE_POINTS.length; first += POINTS_PER_TEST) {
  const points = MOVE_POINTS.slice(first, first + POINTS_PER_TEST);
  test(`a move goes on after a crash, there and back again: ${points.join("; ")}`, { skip }, async (t) => {
    const scene = await makeMoveScene(t);
    await scene.databases[0].query("UPDATE event_types_counted SET sequence = 3");
    const before = withoutJobs(await scene.rowsIn(0));
    for (const [n, point] of points.entries()) await crashAt(scene, point, n % 2 === 0 ? [0, 1] : [1, 0], before);
  });
}

async function crashAt(scene: MoveScene, point: MovePoint, [from, to]: readonly [number, number], before: Rows): Promise<void> {
  const jobId = await scene.begin(to);
  await killAt(scene, point);
  const place = MOVE_POINTS.indexOf(point) >= MOVE_POINTS.indexOf("switched") ? to : from;
  assert.equal(await scene.placeOf(), place, `one place after a crash at "${point}"`);
  same(withoutJobs(await scene.rowsIn(place)), before, `every row is there after a crash at "${point}"`);
  const progress = await scene.finish();
  assert.deepEqual(progress.map(({ failure }) => failure).filter(Boolean), [], point);
  assert.equal(await scene.placeOf(), to, point);
  same(withoutJobs(await scene.rowsIn(to)), before, point);
  assert.equal(countOf(await scene.rowsIn(from)), 0, `nothing is left behind after a crash at "${point}"`);
  assert.equal((await scene.jobIn(to, jobId))?.status, "completed", point);
}

test("a move that is cancelled leaves the environment where it was, also after a crash", { skip }, async (t) => {
  const scene = await makeMoveScene(t);
  const before = withoutJobs(await scene.rowsIn(0));
  const cancel = (jobId: string) =>
    scene.databases[0].query(`UPDATE jobs SET status = 'cancelled', ended_at = 1 WHERE environment_id = $1 AND job_id = $2`, [
      MOVED,
      jobId,
    ]);
  for (const point of ["recorded", "changes are recorded", "target is ready", "all is copied"] as const) {
    const jobId = await scene.begin(1);
    if (point === "all is copied") await killAt(scene, point);
    let isCancelled = false;
    const atPoint = async (reached: MovePoint) => {
      if (isCancelled || (reached !== point && point !== "all is copied")) return;
      isCancelled = true;
      await cancel(jobId);
    };
    if (point === "all is copied") await cancel(jobId);
    await scene.finish({ atPoint });
    assert.equal(await scene.placeOf(), 0, point);
    same(withoutJobs(await scene.rowsIn(0)), before, point);
    assert.equal(countOf(await scene.rowsIn(1)), 0, `nothing is left at the target of a move that was cancelled: ${point}`);
    assert.equal((await scene.jobIn(0, jobId))?.status, "cancelled");
  }
});
