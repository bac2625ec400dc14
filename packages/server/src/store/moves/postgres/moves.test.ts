/** An environment moves between two databases with everything it holds, and nothing else does. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { makeMoveScene } from "../../../../test/support/move-scene.ts";
import { startWriters } from "../../../../test/support/move-writers.ts";
import { whyNoPostgres } from "../../../../test/support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const OTHER = 8 as EnvironmentId;

type Rows = Record<string, string[]>;

/** Without the row of the move's own job. */
function withoutJob(rows: Rows, jobId: string): Rows {
  return { ...rows, jobs: (rows.jobs ?? []).filter((row) => !row.includes(jobId)) };
}

/** Those of an event that is counted later. */
const withoutFigures = ({
  event_types: _,
  event_type_hours: _hours,
  traffic_minutes: _minutes,
  traffic_hours: _all,
  ...rows
}: Rows): Rows => rows;

function countOf(rows: Rows): number {
  return Object.values(rows).reduce((sum, some) => sum + some.length, 0);
}

test("every row of an environment moves, and the old ones are gone", { skip }, async (t) => {
  const scene = await makeMoveScene(t);
  const [before, others] = [await scene.rowsIn(0), await scene.rowsIn(0, OTHER)];
  for (const { name } of scene.tables) assert.ok((before[name]?.length ?? 0) > 0, `nothing to move in ${name}: the test is blind there`);
  const jobId = await scene.begin(1);
  const progress = await scene.finish();
  assert.deepEqual(progress.map(({ failure }) => failure).filter(Boolean), []);
  assert.equal(await scene.placeOf(), 1);
  assert.deepEqual(withoutFigures(withoutJob(await scene.rowsIn(1), jobId)), withoutFigures(before));
  assert.deepEqual((await scene.rowsIn(1)).event_types?.at(-1), '["7", "name 3", "3", "3", "4"]', "an event is counted where it arrives");
  assert.equal(countOf(await scene.rowsIn(0)), 0, "nothing is left in the old database");
  assert.deepEqual(await scene.rowsIn(0, OTHER), others, "another environment is untouched");
  assert.equal(countOf(await scene.rowsIn(1, OTHER)), 0);
  const job = await scene.jobIn(1, jobId);
  assert.equal(job?.status, "completed");
  assert.ok(job?.total === job?.done && (job?.total ?? 0) >= countOf(before), JSON.stringify(job));
  const [triggers] = await scene.databases[0].query<{ count: number }>("SELECT count(*) FROM pg_trigger WHERE tgname = 'note_moving_row'");
  assert.equal(triggers?.count, 0, "ordinary writes pay nothing after a move");
});

test("writers that never pause lose nothing, there and back again", { skip }, async (t) => {
  const scene = await makeMoveScene(t);
  const writers = startWriters(scene);
  await writers.more(10);
  const failures: (string | null)[] = [];
  for (const to of [1, 0]) {
    const jobId = await scene.begin(to);
    // The old rows are not removed yet when it moves back.
    const progress = await scene.finish({ timing: { workMs: 50 } }, ({ move }) => move.jobId === jobId && move.state === "forgetting");
    failures.push(...progress.map(({ failure }) => failure));
    assert.equal(await scene.placeOf(), to, JSON.stringify(failures));
    await writers.more(10);
  }
  assert.ok(writers.refusals() > 0, "writes were held: otherwise the test is blind");
  await writers.check(scene.databases[0]);
  await scene.finish();
  assert.equal(countOf(await scene.rowsIn(1)), 0);
  assert.ok(countOf(await scene.rowsIn(0)) > 0);
});
