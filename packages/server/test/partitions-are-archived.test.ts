/** A partition is dropped only once the archive has all of it, verified. Rows are archived exactly as they were stored. */

import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { ArchiveTarget } from "../src/archive/targets/archive-target.ts";
import { folderTarget } from "../src/archive/targets/folder-target.ts";
import { advance, beginOne, doneStep, makeScene, sampleEnd } from "../src/store/conformance/run-samples.ts";
import { appendAt, archiveAll, archiveFolder, archiveOf, DAY_MS, dayText, openArchivedStore, rowsIn } from "./support/archive-scene.ts";
import { inDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;

async function countOf(url: string, table: string): Promise<number> {
  const { rows } = await inDatabase(url, (client) => client.query<{ count: string }>(`SELECT count(*) FROM ${table}`));
  return Number(rows[0]?.count);
}

test("events, runs and steps are archived by environment and day, exactly, and then dropped", { skip }, async (t) => {
  const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
  const store = await openArchivedStore(t, url);
  const scene = await makeScene(store);
  const branch = await store.environmentInsert({ name: "../feature/x", kind: "custom", createdAt: 1, bodyBytesMax: null });
  assert.ok(branch);
  const [first, second] = [Date.now() - 3 * DAY_MS, Date.now() - 2 * DAY_MS];
  const exact = '{"big":12345678901234567890.10,"a":1,"a":2,"text":"\\ud800 ü"}';
  await appendAt(store, scene.environment, first, [{ data: exact, extras: '{"v":1.0}', dedupId: "a\0\ud800b" }, { name: "shop/other" }]);
  await appendAt(store, scene.environment, second, [{}]);
  await appendAt(store, branch, first, [{}]);
  const begun = await beginOne(scene);
  await advance(scene, begun, { steps: [doneStep("a")], end: sampleEnd() });
  await archiveAll(store, archiveOf(store, folder));

  const rows = await rowsIn(folder, "events", `production/events/${dayText(first)}.parquet`);
  assert.deepEqual(
    rows.map(({ name, data, dedup_id, environment, received_at }) => ({ name, data, dedup_id, environment, received_at })),
    [
      { name: "shop/order.created", data: exact, dedup_id: "a\0\ud800b", environment: "production", received_at: first },
      { name: "shop/other", data: '{"n":1}', dedup_id: null, environment: "production", received_at: first },
    ],
  );
  assert.equal(rows[0]?.extras, '{"v":1.0}');
  assert.equal((await rowsIn(folder, "events", `production/events/${dayText(second)}.parquet`)).length, 1);
  assert.equal((await rowsIn(folder, "events", `@.~feature~x/events/${dayText(first)}.parquet`)).length, 1);
  const target = folderTarget(folder);
  const [[runs], [steps]] = await Promise.all([target.list("production/runs/"), target.list("production/steps/")]);
  const [run] = await rowsIn(folder, "runs", runs?.name ?? "");
  assert.deepEqual([run?.run_id, run?.status, run?.function_id], [begun.run.id, "completed", "shop-ship"]);
  const [step] = await rowsIn(folder, "steps", steps?.name ?? "");
  assert.deepEqual([step?.run_id, step?.step_id], [begun.run.id, "a"]);
  for (const table of ["events", "runs", "steps", "partition_changes"]) assert.equal(await countOf(url, table), 0, table);
});

/** As `inlet migrate-store` copies runs: with the numbers of the embedded store, which say nothing of the day. */
const COPY_RUNS = `
  WITH copied AS (SELECT * FROM jsonb_to_recordset($1::jsonb) AS c(run_no bigint, run_id text, created_at bigint)),
    kept_steps AS (
      INSERT INTO steps SELECT (jsonb_populate_record(s, jsonb_build_object('run_no', c.run_no))).* FROM steps AS s CROSS JOIN copied AS c)
  INSERT INTO runs SELECT (jsonb_populate_record(r, to_jsonb(c))).* FROM runs AS r CROSS JOIN copied AS c`;

test("runs that were copied from an embedded store are archived by the day of their creation", { skip }, async (t) => {
  const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
  const store = await openArchivedStore(t, url);
  const scene = await makeScene(store);
  const begun = await beginOne(scene);
  await advance(scene, begun, { steps: [doneStep("a")], end: sampleEnd() });
  const [first, second] = [Date.now() - 3 * DAY_MS, Date.now() - 2 * DAY_MS];
  const copied = [first, first, second, first, second].map((at, index) => ({ run_no: index + 1, run_id: `copy-${index}`, created_at: at }));
  await inDatabase(url, (client) => client.query(COPY_RUNS, [JSON.stringify(copied)]));
  await archiveAll(store, archiveOf(store, folder));

  const idsIn = async (table: "runs" | "steps", at: number) =>
    (await rowsIn(folder, table, `production/${table}/${dayText(at)}.parquet`)).map(({ run_id }) => run_id);
  for (const table of ["runs", "steps"] as const) {
    assert.deepEqual(await idsIn(table, 0), [], table);
    assert.deepEqual(await idsIn(table, first), ["copy-0", "copy-1", "copy-3"], table);
    assert.deepEqual(await idsIn(table, second), ["copy-2", "copy-4"], table);
    const files = await folderTarget(folder).list(`production/${table}/`);
    assert.equal(files.length, 3, "and one of the day of the other run");
    assert.equal(await countOf(url, table), 0, table);
  }
});

test("a partition stays while the archive cannot be written, or does not have what it should have", { skip }, async (t) => {
  const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
  const store = await openArchivedStore(t, url);
  const { environment } = await makeScene(store);
  const at = Date.now() - 3 * DAY_MS;
  await appendAt(store, environment, at, [{}, {}]);
  await writeFile(join(folder, "production"), "in the way");
  const archive = archiveOf(store, folder);
  await archiveAll(store, archive);
  assert.equal(await countOf(url, "events"), 2);
  assert.match(archive.failure?.reason ?? "", /ENOTDIR|EEXIST/);
  const since = await store.retentionArchiveFailingSince();
  assert.ok(since);

  await rm(join(folder, "production"));
  const whole = folderTarget(folder);
  // Storage that loses the end of what it was given.
  const losing: ArchiveTarget = {
    ...whole,
    async open(name) {
      const file = await whole.open(name);
      return file && { ...file, byteLength: file.byteLength - 1 };
    },
  };
  const distrusted = archiveOf(store, losing);
  await archiveAll(store, distrusted);
  assert.equal(await countOf(url, "events"), 2);
  assert.ok(distrusted.failure);
  assert.equal(await store.retentionArchiveFailingSince(), since, "since the first failure");

  await archiveAll(store, archive);
  assert.equal(archive.failure, null);
  assert.equal(await store.retentionArchiveFailingSince(), null);
  assert.equal(await countOf(url, "events"), 0);
  assert.equal((await rowsIn(folder, "events", `production/events/${dayText(at)}.parquet`)).length, 2);
});

test("what is changed or added while a partition is archived is archived too, and one node archives at a time", { skip }, async (t) => {
  const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
  const [store, other] = [await openArchivedStore(t, url), await openArchivedStore(t, url)];
  const { environment } = await makeScene(store);
  const at = Date.now() - 3 * DAY_MS;
  await appendAt(store, environment, at, [{}, {}]);
  const whole = folderTarget(folder);
  let created = 0;
  const archive = archiveOf(store, {
    ...whole,
    async create(name) {
      if (created++ === 0) {
        assert.equal(await archiveOf(other, folder).alone(async () => assert.fail("both write")), false);
        await appendAt(store, environment, at, [{ name: "late" }]);
        await inDatabase(url, (client) =>
          client.query("UPDATE events SET duplicates = 7 WHERE name_id = (SELECT min(name_id) FROM event_names)"),
        );
      }
      return whole.create(name);
    },
  });
  await archiveAll(store, archive);
  assert.equal(await countOf(url, "events"), 3, "it changed after it was read");
  await archiveAll(store, archive);
  assert.equal(await countOf(url, "events"), 0);
  const rows = await rowsIn(folder, "events", `production/events/${dayText(at)}.parquet`);
  assert.deepEqual(rows.map(({ name, duplicates }) => [name, duplicates]).sort(), [
    ["late", 0],
    ["shop/order.created", 7],
    ["shop/order.created", 7],
  ]);
});

test("rows of a day without a partition, and of a day that has a file, are added to it", { skip }, async (t) => {
  const [url, folder] = [await migratedDatabase(t), await archiveFolder(t)];
  const store = await openArchivedStore(t, url);
  const { environment } = await makeScene(store);
  const at = Date.now() - 3 * DAY_MS;
  await appendAt(store, environment, at, [{ name: "before" }]);
  const archive = archiveOf(store, folder);
  const order: number[] = [];
  const turns = [1, 2, 3].map((turn) => archive.alone(async () => void order.push(turn)));
  assert.deepEqual(await Promise.all(turns), [true, true, true], "those of one node take turns");
  assert.equal(order.length, 3);
  await archiveAll(store, archive);
  await appendAt(store, environment, at + 1, [{ name: "rest" }]);
  assert.equal(await countOf(url, "events_rest"), 1);
  await archiveAll(store, archiveOf(store, folder));
  assert.equal(await countOf(url, "events"), 0);
  const rows = await rowsIn(folder, "events", `production/events/${dayText(at)}.parquet`);
  assert.deepEqual(
    rows.map(({ name }) => name),
    ["before", "rest"],
  );
});
