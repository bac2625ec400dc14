/**
 * A node is gone at each point of a move: the environment is in one place afterwards, with every row, and the move goes on to its end
 * on another node; one that was cancelled leaves the environment where it was.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { type TestContext, test } from "node:test";
import type { JobId } from "@inlet/protocol";
import { MOVE_POINTS, type MovePoint } from "../src/store/moves/postgres/move-parts.ts";
import { databasePlug } from "./support/database-plug.ts";
import { MOVED, type MoveScene, makeMoveScene, moveStore, openDatabase } from "./support/move-scene.ts";
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

/** For the databases the same as the end of its process: all connections end while it is at the point, and nothing comes from it afterwards. */
async function vanishAt(t: TestContext, { urls }: MoveScene, point: MovePoint): Promise<void> {
  const plugs = [await databasePlug(t, urls[0]), await databasePlug(t, urls[1])] as const;
  const directory = openDatabase(plugs[0].url);
  const [reached, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const store = moveStore(directory, [plugs[0].url, plugs[1].url], {
    timing: { holdMs: 60_000, fenceMs: 0 },
    async atPoint(at) {
      if (at !== point) return;
      reached.resolve();
      await gone.promise;
    },
  });
  const work = async () => {
    while (await store.environmentMoveAdvance({ now: Date.now(), leaseMs: 60_000 }));
    assert.fail(`the move went past "${point}"`);
  };
  const working = work();
  await Promise.race([reached.promise, working]);
  await Promise.all(plugs.map((plug) => plug.pull()));
  gone.resolve();
  await assert.rejects(working, /PostgreSQL cannot be reached/);
  await store.stop();
  await directory.stop();
}

/** A few points in each test: every one takes a whole move. */
const POINTS_PER_TEST = 4;

for (let first = 0; first < MOVE_POINTS.length; first += POINTS_PER_TEST) {
  const points = MOVE_POINTS.slice(first, first + POINTS_PER_TEST);
  test(`a move goes on after a crash, there and back again: ${points.join("; ")}`, { skip }, async (t) => {
    const scene = await makeMoveScene(t);
    await scene.databases[0].query("UPDATE event_types_counted SET sequence = 3");
    const before = withoutJobs(await scene.rowsIn(0));
    for (const [n, point] of points.entries()) {
      const [from, to] = n % 2 === 0 ? [0, 1] : [1, 0];
      const jobId = await scene.begin(to);
      await vanishAt(t, scene, point);
      await goesOn(scene, { point, from, to, jobId, before });
    }
  });
}

interface Crash {
  point: MovePoint;
  from: number;
  to: number;
  jobId: JobId;
  before: Rows;
}

async function goesOn(scene: MoveScene, { point, from, to, jobId, before }: Crash): Promise<void> {
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
