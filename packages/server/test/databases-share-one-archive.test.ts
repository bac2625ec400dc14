/**
 * Each database archives its partitions to the one archive. What an environment archived stays with its name, wherever it is moved; a failure
 * is told to the environments of its database, on every node; erasures cover what is archived from any database.
 */

import assert from "node:assert/strict";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { appendAt, archiveFolder, DAY_MS, dayText, folderUrl, openArchivedStore, rowsIn } from "./support/archive-scene.ts";
import { freshDatabase, migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { API_KEY, call, startTestService } from "./support/service.ts";

const SECRET = '{"who":"correct-horse-battery-staple"}';
const FAR = { "x-service-env": "far" };

test("environments of two databases are archived, read, moved and erased", { skip: whyNoPostgres() ?? false }, async (t) => {
  const [directory, second, folder] = [await migratedDatabase(t), await freshDatabase(t), await archiveFolder(t)];
  const started = {
    databaseUrl: directory,
    flags: ["--event-retention", "30d", "--run-retention", "30d", "--archive", folderUrl(folder)],
    now: () => Date.now() + 60 * DAY_MS,
    sweepEveryMs: 1_000,
  };
  const service = await startTestService(t, started);
  const ok = async (method: string, path: string, body: object, headers = {}) => {
    const { status, body: answer, text } = await service.rest(method, path, { body, headers });
    assert.ok(status >= 200 && status < 300, text);
    return answer.data;
  };
  await ok("POST", "/databases", { name: "second", url: second });
  await ok("POST", "/environments", { name: "far", database: "second" });
  const rule = { name: "archive", kind: "archive_failing", threshold: 1 };
  await ok("POST", "/alert-rules", rule);
  await ok("POST", "/alert-rules", rule, FAR);

  const [store, member] = [await openArchivedStore(t, directory), await openArchivedStore(t, second)];
  const environmentOf = async (name: string) =>
    (await store.environmentList()).find((each) => each.name === name) ?? assert.fail(`there is no ${name}`);
  const [production, far] = [await environmentOf("production"), await environmentOf("far")];
  await writeFile(join(folder, "far"), "in the way");
  const at = Math.floor(Date.now() / DAY_MS) * DAY_MS - 5 * DAY_MS;
  await appendAt(store, production, at, [{ name: "shop/near", data: SECRET }]);
  await appendAt(member, far, at, [
    { name: "shop/far", data: SECRET },
    { name: "shop/kept", data: '{"n":1}' },
  ]);

  const archived = async (headers = {}) => {
    const { status, body, text } = await service.rest("GET", "/events?archived=true", { headers });
    assert.equal(status, 200, text);
    return (body.data as { name: string }[]).map(({ name }) => name).sort();
  };
  await until("those of the directory", async () => (await archived()).length === 1 || undefined);
  // The failure of one database is told by every node, and raised for the environments of that database.
  const other = await startTestService(t, started);
  const failingSince = async () => (await call(`${other.url}/ready`)).body?.archive?.failingSince as string | null | undefined;
  await until("the failure", async () => (await failingSince()) ?? undefined);
  const raised = async (headers = {}) => (await service.rest("GET", "/alerts", { headers })).body.data.length as number;
  await until("an alert", async () => (await raised(FAR)) === 1 || undefined);
  assert.equal(await raised(), 0, "the archive takes what the directory has");
  await until("the figure of the failure", async () => {
    const { text } = await call(`${other.url}/metrics`, { headers: { authorization: `Bearer ${API_KEY}` } });
    return /^inlet_archive_failing_seconds [1-9]/m.test(text) || undefined;
  });
  const stored = async () => (await service.rest("GET", "/events?name=shop/*", { headers: FAR })).body.data.length as number;
  assert.equal(await stored(), 2, "nothing is dropped");

  await rm(join(folder, "far"));
  await until("those of the other database", async () => (await archived(FAR).catch(() => [])).length === 2 || undefined);
  await until("all are dropped", async () => (await stored()) === 0 || undefined);
  await until("no failure", async () => (await failingSince()) === null || undefined);
  await until("a resolved alert", async () => (await raised(FAR)) === 0 || undefined);
  assert.deepEqual((await readdir(join(folder, "far"))).sort(), ["events"]);

  const move = await ok("POST", "/environments/far/move", { database: "directory" });
  const jobEnds = (id: string) =>
    until("the end of the job", async () => {
      const { status } = (await service.rest("GET", `/jobs/${id}`, { headers: FAR })).body.data;
      return ["completed", "failed", "cancelled"].includes(status) ? (status as string) : undefined;
    });
  assert.equal(await jobEnds(move.id), "completed");
  assert.deepEqual(await archived(FAR), ["shop/far", "shop/kept"]);
  // Rows of a day that has a file are added to it, from whichever database they come.
  await appendAt(store, far, at + 1, [{ name: "shop/later", data: SECRET }]);
  await until("one more", async () => (await archived(FAR)).length === 3 || undefined);

  const erasure = await ok("POST", "/jobs", { kind: "events.erase", filter: { q: "battery" } }, FAR);
  assert.equal(await jobEnds(erasure.id), "completed");
  const rows = await rowsIn(folder, "events", `far/events/${dayText(at)}.parquet`);
  assert.equal(rows.filter(({ data }) => data === SECRET).length, 0);
  assert.equal(rows.filter(({ data }) => data === '{"n":1}').length, 1);
  assert.equal((await rowsIn(folder, "events", `production/events/${dayText(at)}.parquet`))[0]?.data, SECRET, "another environment");

  await writeFile(join(folder, "far", "events", `${dayText(at)}.parquet`), "damaged");
  const { status, body } = await service.rest("GET", "/events?archived=true", { headers: FAR });
  assert.deepEqual([status, body.code], [503, "store_unavailable"]);
  assert.match(
    body.error,
    new RegExp(`^The file far/events/${dayText(at)}\\.parquet of the archive cannot be read\\. The log of the service says why\\.$`),
  );
  assert.doesNotMatch(JSON.stringify(body), new RegExp(folder));
});
