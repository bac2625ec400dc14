/** An environment moves between two databases with everything it holds, and nothing else does. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { EnvironmentId, JobId } from "@inlet/protocol";
import { accompanied } from "../../../../test/support/accompanied-database.ts";
import { MOVED, type MoveScene, makeMoveScene, moveStore } from "../../../../test/support/move-scene.ts";
import { startWriters } from "../../../../test/support/move-writers.ts";
import { whyNoPostgres } from "../../../../test/support/postgres.ts";
import { EnvironmentMoved } from "../../contract/index.ts";
import { COUNTED_HERE } from "../../postgres/fenced.ts";
import type { MovePoint } from "./move-parts.ts";

const skip = whyNoPostgres() ?? false;
const OTHER = 8 as EnvironmentId;

type Rows = Record<string, string[]>;

/** Without the row of the move's own job. */
function withoutJob(rows: Rows, jobId: string): Rows {
  return { ...rows, jobs: (rows.jobs ?? []).filter((row) => !row.includes(jobId)) };
}

/** Without those of any move. */
const withoutJobs = ({ jobs: _, ...rows }: Rows): Rows => rows;

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

test("of moves that are started at the same moment, one begins; every row of the environment moves, and the old ones are gone", {
  skip,
}, async (t) => {
  const scene = await makeMoveScene(t);
  const [before, others] = [await scene.rowsIn(0), await scene.rowsIn(0, OTHER)];
  for (const { name } of scene.tables) assert.ok((before[name]?.length ?? 0) > 0, `nothing to move in ${name}: the test is blind there`);
  const jobId = await beginTwice(t, scene);
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

/** By two nodes at the same moment. Returns the job of the one that begins. */
async function beginTwice(t: TestContext, { databases, urls }: MoveScene): Promise<JobId> {
  const attempts = [1, 2].map(() => ({ store: moveStore(databases[0], urls), jobId: randomUUID() as string as JobId }));
  t.after(() => Promise.all(attempts.map(({ store }) => store.stop())));
  const begun = await Promise.all(
    attempts.map(({ store, jobId }) => store.environmentMoveInsert({ environmentId: MOVED, jobId, to: 1, filter: "{}", now: 1 })),
  );
  assert.deepEqual(begun.toSorted(), [false, true]);
  return attempts[begun.indexOf(true)]?.jobId as JobId;
}

test("writers that never stop lose nothing, there and back again", { skip }, async (t) => {
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

test("a move back waits until no node can still mean to write in the old place", { skip }, async (t) => {
  const scene = await makeMoveScene(t);
  const [directory] = scene.databases;
  const hear = (at: number) =>
    directory.query(
      `INSERT INTO nodes VALUES ('silent', '1.0.0', 1, 0, $1) ON CONFLICT (node) DO UPDATE SET last_seen_at = excluded.last_seen_at`,
      [at],
    );
  await hear(directory.now());
  await scene.begin(1);
  await scene.finish({}, ({ move }) => move.state === "forgetting");
  await scene.begin(0);
  const store = moveStore(directory, scene.urls);
  t.after(() => store.stop());
  const advance = () => store.environmentMoveAdvance({ now: directory.now(), leaseMs: 60_000 });
  const progress = await advance();
  const text = "INSERT INTO marks (environment_id, function_no, kind, key, value, expires_at) VALUES ($1, 1, 'test', 'late', '1', 0)";
  await assert.rejects(directory.query(text, [MOVED]), EnvironmentMoved);
  assert.equal(progress, null, "a node has not been heard of since the switch");
  await hear(directory.now() + 20_000);
  assert.equal((await advance())?.move.state, "moving");
  await scene.finish();
  assert.equal(await scene.placeOf(), 0);
});

test("events after the switch are counted, however many other environments accept meanwhile", { skip }, async (t) => {
  const scene = await makeMoveScene(t);
  const [source, target] = scene.databases;
  await scene.begin(1);
  let isSwitching = false;
  const directory = accompanied(source, async (_, work) => {
    if (isSwitching) await source.query("SELECT setval('event_sequence', nextval('event_sequence') + 1000000)");
    return work();
  });
  const atPoint = async (point: MovePoint) => {
    isSwitching = point === "compared";
  };
  await scene.finish({ directory, atPoint });
  assert.equal(await scene.placeOf(), 1);
  const [event] = await target.query<{ sequence: number }>(
    `INSERT INTO events (sequence, environment_id, event_id, name_id, ts, received_at, source_no, data)
     SELECT nextval('event_sequence'), $1, 'later', min(name_id), 0, 0, 1, '{}' FROM event_names RETURNING sequence`,
    [MOVED],
  );
  const text = `SELECT event_id AS id FROM events WHERE sequence = $1 AND ${COUNTED_HERE}`;
  assert.deepEqual(await target.query(text, [event?.sequence]), [{ id: "later" }]);
});

test("a target that is away, full or of another release leaves the environment where it is, and a later move succeeds", {
  skip,
}, async (t) => {
  const scene = await makeMoveScene(t);
  const [, target] = scene.databases;
  const before = await scene.rowsIn(0);
  const away = async () => [{ no: 1, name: "second", url: "postgres://postgres@127.0.0.1:1/x", readUrl: null, createdAt: 0 }];
  const noSpace = `CREATE FUNCTION no_space() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`;
  const troubles = [
    {
      begin: async () => undefined,
      parts: { members: away },
      end: async () => undefined,
      reason: /10 times in a row, .* cannot be reached/,
    },
    {
      begin: async () => {
        await target.query(noSpace);
        await target.query("CREATE TRIGGER no_space BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION no_space()");
      },
      end: async () => void (await target.query("DROP FUNCTION no_space CASCADE")),
      reason: /10 times in a row, .* the disk of PostgreSQL is full/,
    },
    {
      begin: async () => void (await target.query("UPDATE schema_version SET version = version - 1")),
      end: async () => void (await target.query("UPDATE schema_version SET version = version + 1")),
      reason: /^The databases have different schemas .*: all nodes must be of one release\.$/,
    },
  ];
  for (const { begin, parts, end, reason } of troubles) {
    await begin();
    const jobId = await scene.begin(1);
    // A target that is away keeps its copied rows until it is back.
    await scene.finish(
      parts,
      ({ move, failure }) => move.jobId === jobId && (move.state === "ended" || (move.state === "clearing" && failure !== null)),
    );
    assert.equal(await scene.placeOf(), 0);
    const job = await scene.jobIn(0, jobId);
    assert.equal(job?.status, "failed");
    const [{ message }] = JSON.parse(job?.errors ?? "[]");
    assert.match(message, reason);
    assert.deepEqual(withoutJobs(await scene.rowsIn(0)), withoutJobs(before));
    await scene.databases[0].query("UPDATE events SET data = data WHERE environment_id = $1", [MOVED]);
    await end();
  }
  await scene.finish();
  assert.equal(countOf(await scene.rowsIn(1)), 0, "nothing of them is left");
  await scene.begin(1);
  const progress = await scene.finish();
  assert.deepEqual(progress.map(({ failure }) => failure).filter(Boolean), []);
  assert.equal(await scene.placeOf(), 1);
  assert.deepEqual(withoutFigures(withoutJobs(await scene.rowsIn(1))), withoutFigures(withoutJobs(before)));
});
