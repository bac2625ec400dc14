/** PostgreSQL commits, and its response is lost: the move goes on from what was committed. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { JobId } from "@inlet/protocol";
import { accompanied } from "../../../../test/support/accompanied-database.ts";
import { MOVED, type MoveScene, makeMoveScene, moveStore } from "../../../../test/support/move-scene.ts";
import { whyNoPostgres } from "../../../../test/support/postgres.ts";
import { StoreUnavailable } from "../../contract/index.ts";
import { CommitUnknown } from "../../postgres/database.ts";
import type { MovePoint } from "./move-parts.ts";

const skip = whyNoPostgres() ?? false;
/** After one more, a move that has not switched ends. */
const FAILURES = 9;

const countOf = (rows: Record<string, string[]>): number => Object.values(rows).reduce((sum, some) => sum + some.length, 0);

async function isMoved(scene: MoveScene, rows: number): Promise<void> {
  assert.equal(await scene.placeOf(), 1);
  assert.ok(countOf(await scene.rowsIn(1)) >= rows, "every row is where the directory says");
  assert.equal(countOf(await scene.rowsIn(0)), 0, "nothing is left in the old database");
}

for (const [what, isLost] of [
  ["its switch", (text: string | null) => text === null],
  ["what is noted after its switch", (text: string | null) => text?.startsWith("UPDATE environment_moves SET failures") ?? false],
] as const) {
  test(`a move that failed often goes on when the response to ${what} is lost`, { skip }, async (t) => {
    const scene = await makeMoveScene(t);
    const rows = countOf(await scene.rowsIn(0));
    const jobId = await scene.begin(1);
    await scene.databases[0].query("UPDATE environment_moves SET failures = $1", [FAILURES]);
    await scene.finish(losingAfter(t, scene, "sealed", isLost));
    await scene.finish();
    await isMoved(scene, rows);
    assert.equal((await scene.jobIn(1, jobId))?.status, "completed");
  });
}

/** The first such response after a point is lost. */
function losingAfter(t: TestContext, { databases }: MoveScene, at: MovePoint, isLost: (text: string | null) => boolean) {
  let [isReached, isDone] = [false, false];
  t.after(() => assert.ok(isDone, "no response was lost: the test is blind"));
  const directory = accompanied(databases[0], async (text, work) => {
    const result = await work();
    if (!isReached || isDone || !isLost(text)) return result;
    isDone = true;
    throw new CommitUnknown("the response was lost");
  });
  const atPoint = async (point: MovePoint) => {
    isReached ||= point === at;
  };
  // In one piece: a piece of work that succeeds ends the row of failures.
  return { directory, atPoint, timing: { workMs: 60_000 } };
}

test("a move that did not begin ends its job, which may have been stored", { skip }, async (t) => {
  const scene = await makeMoveScene(t);
  const jobId = randomUUID() as string as JobId;
  const directory = accompanied(scene.databases[0], async (text, work) => {
    const result = await work();
    if (text?.includes("INSERT INTO jobs")) throw new CommitUnknown("the response was lost");
    return result;
  });
  const store = moveStore(directory, scene.urls);
  t.after(() => store.stop());
  await assert.rejects(store.environmentMoveInsert({ environmentId: MOVED, jobId, to: 1, filter: "{}", now: 1 }), CommitUnknown);
  await scene.finish();
  const job = await scene.jobIn(0, jobId);
  assert.equal(job?.status, "failed");
  assert.match(job?.errors ?? "", /The move did not begin: the response was lost/);
  assert.equal(await scene.placeOf(), 0);
  await scene.begin(1);
  await scene.finish();
  assert.equal(await scene.placeOf(), 1);
});

for (const [what, isAway] of [
  ["while its job is stored", () => false],
  ["and the directory is away then", (text: string | null) => text?.startsWith("UPDATE environment_moves SET state") ?? false],
] as const) {
  test(`a move whose source does not respond is not carried out by a node that looks for moves ${what}`, { skip }, async (t) => {
    const scene = await makeMoveScene(t);
    const jobId = randomUUID() as string as JobId;
    const mover = moveStore(scene.databases[0], scene.urls);
    let claimed: unknown;
    const directory = accompanied(scene.databases[0], async (text, work) => {
      if (isAway(text)) throw new StoreUnavailable("the directory is away");
      if (!text?.includes("INSERT INTO jobs")) return work();
      claimed = await mover.environmentMoveAdvance({ now: scene.databases[0].now(), leaseMs: 60_000 });
      throw new StoreUnavailable("the source is silent");
    });
    const store = moveStore(directory, scene.urls);
    t.after(() => Promise.all([store.stop(), mover.stop()]));
    const params = { environmentId: MOVED, jobId, to: 1, filter: "{}" };
    await assert.rejects(store.environmentMoveInsert({ ...params, now: scene.databases[0].now() }), StoreUnavailable);
    assert.equal(claimed, null);
    await scene.finish();
    assert.equal(await scene.placeOf(), 0);
    assert.equal((await scene.jobIn(0, jobId))?.status, "failed");
    await scene.begin(1);
    await scene.finish();
    assert.equal(await scene.placeOf(), 1);
  });
}

test("no rows are removed where the directory says that the environment is", { skip }, async (t) => {
  const scene = await makeMoveScene(t);
  const rows = countOf(await scene.rowsIn(0));
  await scene.begin(1);
  const fails = async (point: MovePoint) => assert.notEqual(point, "switched");
  await scene.finish({ atPoint: fails }, ({ failure }) => failure !== null);
  await scene.databases[0].query("UPDATE environment_moves SET state = 'clearing' WHERE environment_id = $1", [MOVED]);
  await scene.finish({}, ({ failure, move }) => failure !== null || move.state === "ended");
  await scene.databases[0].query("UPDATE environment_moves SET state = 'switched' WHERE environment_id = $1", [MOVED]);
  await scene.finish();
  await isMoved(scene, rows);
});
