/**
 * While an environment moves, its rows are in two databases, and both have partitions to archive. Only the rows of the database where the
 * environment is are archived, and no partition is dropped that has rows of the move.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { test } from "node:test";
import type { JobId } from "@inlet/protocol";
import { eraseEvents } from "../src/jobs/kinds/erase-events.ts";
import type { Job, Store } from "../src/store/contract/index.ts";
import { MOVE_POINTS, type MovePoint } from "../src/store/moves/postgres/move-parts.ts";
import {
  appendAt,
  archiveFolder,
  archiveOf,
  countAll,
  DAY_MS,
  dayText,
  openArchivedStore,
  rowsIn,
  sweepAll,
} from "./support/archive-scene.ts";
import { moveStore, openDatabase } from "./support/move-scene.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const SECRET = '{"who":"correct-horse-battery-staple"}';
const HOUR_MS = 3_600_000;
const ARRIVED = MOVE_POINTS.indexOf("arrived");

async function eraseAll(store: Store, archive: ReturnType<typeof archiveOf>, environmentId: Job["environmentId"]): Promise<void> {
  const environment = (await store.environmentList()).find(({ id }) => id === environmentId) ?? assert.fail();
  const kind = eraseEvents({
    store,
    archive,
    sourceName: () => "",
    cancel: () => Promise.reject(new Error("there are no runs")),
    gatheringWithout: () => null,
    environment: () => environment,
  });
  const { found } = await kind.find(environment, { q: "battery" }, null, new AbortController().signal);
  assert.equal(found.length, 1);
  await kind.work(
    { environmentId } as Job,
    found.map(({ item }) => item),
  );
}

test("an environment that moves is archived by the database where it is", { skip: whyNoPostgres() ?? false }, async (t) => {
  const urls = [await migratedDatabase(t), await migratedDatabase(t)] as [string, string];
  const folder = await archiveFolder(t);
  const [old, target] = [await openArchivedStore(t, urls[0]), await openArchivedStore(t, urls[1])];
  const archive = archiveOf(old, folder);
  const insert = async (store: Store, name: string) =>
    (await store.environmentInsert({ name, kind: "custom", createdAt: 1, bodyBytesMax: null })) ?? assert.fail();
  const [other] = [await insert(old, "other"), await insert(target, "other")];
  const moved = await insert(old, "moved");
  const at = Date.now() - 3 * DAY_MS;
  const file = `moved/events/${dayText(at)}.parquet`;
  await appendAt(old, moved, at, [{ name: "secret", data: SECRET }, { name: "kept" }]);
  // The target has counted more events than these: nothing else keeps their partition.
  for (let n = 0; n < 5; n++) await appendAt(target, other, at, [{}]);
  for (const store of [old, target]) await countAll(store);

  const rowsOf = async (url: string) => {
    const text = "SELECT data FROM events WHERE environment_id = $1 ORDER BY sequence";
    return (await inDatabase(url, (client) => client.query<{ data: string }>(text, [moved.id]))).rows.map(({ data }) => data);
  };
  const visited = new Set<MovePoint>();
  /** Before the environment has left, both databases sweep, wherever the move is. */
  async function atPoint(point: MovePoint): Promise<void> {
    visited.add(point);
    // Before it, nothing is copied: what is archived then leaves before the move. After it, the sweeps of `hasLeft` are done.
    if (point === "recorded" || MOVE_POINTS.indexOf(point) > ARRIVED) return;
    const before = await Promise.all(urls.map(rowsOf));
    await sweepAll(old, archive);
    if (point !== "arrived") await sweepAll(target, archive);
    assert.deepEqual(await Promise.all(urls.map(rowsOf)), before, `at "${point}", rows were dropped`);
    assert.equal((await rowsIn(folder, "events", file)).length, 0, `at "${point}", rows were archived`);
  }

  /** The old rows are still there. */
  async function hasLeft(): Promise<void> {
    assert.equal((await rowsOf(urls[0])).length, 2);
    await eraseAll(target, archive, moved.id);
    await sweepAll(old, archive);
    assert.equal((await rowsIn(folder, "events", file)).length, 0, "the old database archived what was erased in the new one");
    for (const store of [target, old]) await sweepAll(store, archive);
    const archived = await rowsIn(folder, "events", file);
    assert.deepEqual(archived.map(({ name }) => name).sort(), ["kept", "secret"]);
    assert.equal(archived.filter(({ data }) => data === SECRET).length, 0);
  }

  const directory = openDatabase(urls[0]);
  const moves = moveStore(directory, urls, { atPoint, timing: { holdMs: 600_000 } });
  t.after(async () => {
    await moves.stop();
    await directory.stop();
  });
  const jobId = randomUUID() as string as JobId;
  assert.equal(await moves.environmentMoveInsert({ environmentId: moved.id, jobId, to: 1, filter: "{}", now: Date.now() }), true);
  const failures: (string | null)[] = [];
  for (let now = Date.now() + HOUR_MS; ; now += HOUR_MS) {
    const progress = await moves.environmentMoveAdvance({ now, leaseMs: HOUR_MS / 2 });
    if (!progress) break;
    failures.push(progress.failure);
    if (progress.move.state === "forgetting" && !visited.has("half is forgotten") && !visited.has("forgotten")) await hasLeft();
  }
  assert.deepEqual(failures.filter(Boolean), []);
  assert.ok(MOVE_POINTS.slice(0, ARRIVED + 1).every((point) => visited.has(point)));
  assert.deepEqual(await Promise.all(urls.map(rowsOf)), [[], []], "all are in the archive");
});
