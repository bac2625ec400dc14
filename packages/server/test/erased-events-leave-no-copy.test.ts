/** Erasure: nothing of a payload is left in the store's files or in later backups, and ids, names, times and counts stay. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { NonRetriableError } from "@inlet/sdk";
import { makeBackup } from "../src/store/sqlite/backup/make-backup.ts";
import { startApp } from "./support/app.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { startInlet } from "./support/process.ts";
import { endedRun, runsOfEvent, until } from "./support/runs.ts";
import {
  API_KEY,
  call,
  EVENT_KEY,
  startTestService,
  type TestService,
  type TestServiceOptions,
  temporaryFolder,
} from "./support/service.ts";
import { ECHO, makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const NEEDLE = "correct-horse-battery-staple";
const KEPT = "somebody-else-entirely";

async function erased(service: TestService, filter: object) {
  const made = await service.rest("POST", "/jobs", { body: { kind: "events.erase", filter } });
  assert.equal(made.status, 202, made.text);
  return until("the job to end", async () => {
    const { body } = await service.rest("GET", `/jobs/${made.body.data.id}`);
    return ["completed", "failed"].includes(body.data.status) ? body.data : undefined;
  });
}

/** Events of one person, in every place where a copy can come to stand; and one of somebody else. */
async function filled(t: TestContext, options: TestServiceOptions) {
  const service = await startTestService(t, options);
  await startApp(t, service, (client) => [
    client.createFunction({ id: "steps" }, { event: "app/steps" }, async ({ event, step }) => {
      const found = await step.run("look up", () => ({ found: `${event.data.who} `.repeat(300) }));
      return { who: event.data.who, length: found.found.length };
    }),
    client.createFunction({ id: "fails" }, { event: "app/fails" }, async ({ event }) => {
      throw new NonRetriableError(`no such person: ${event.data.who}`);
    }),
    client.createFunction({ id: "handles" }, { event: "inngest/function.failed" }, async ({ event }) => event.data),
    client.createFunction({ id: "waits" }, { event: "app/waits" }, async ({ event, step }) => {
      await step.run("before", () => event.data.who);
      await step.sleep("long", "30d");
    }),
    client.createFunction({ id: "gathers", batchEvents: { maxSize: 3, timeout: "1h" } }, { event: "app/gathers" }, async ({ events }) =>
      events.map(({ data }) => data.who),
    ),
  ]);
  const send = async (name: string, who: string, size = 1) =>
    (await service.send({ name, data: { who, more: who.repeat(size) }, user: { mail: who } })).body.ids[0] as string;
  const ids = { steps: await send("app/steps", NEEDLE), fails: await send("app/fails", NEEDLE), waits: await send("app/waits", NEEDLE) };
  await Promise.all([send("app/gathers", NEEDLE), send("app/gathers", KEPT)]);
  const [large, other] = [await send("app/large", NEEDLE, 2_000), await send("app/steps", KEPT)];
  const webhook = await makeWebhook(service, ECHO);
  const hook = async (id: string) => (await post(webhook.url, { name: "hook/came", id, data: { who: NEEDLE } })).status;
  assert.deepEqual([await hook("twice"), await hook("twice")], [200, 200]);
  for (const id of [ids.steps, ids.fails, other]) await endedRun(service, id);
  await until("the failure was handled", async () => {
    const { body } = await service.rest("GET", "/runs?function=shop-handles");
    return body.data[0]?.status === "completed" || undefined;
  });
  await until("the run sleeps", async () => (await runsOfEvent(service, ids.waits))[0]?.status === "sleeping" || undefined);
  return { service, ids, large, other, webhook };
}

const STORES: Record<string, (t: TestContext) => Promise<TestServiceOptions>> = {
  sqlite: async (t) => ({ dataDir: temporaryFolder(t) }),
  postgres: async (t) => ({ databaseUrl: await freshDatabase(t) }),
};

for (const [store, options] of Object.entries(STORES)) {
  const skip = (store === "postgres" && whyNoPostgres()) || false;

  test(`${store}: what events carried is gone wherever it stood; ids, names, times and counts stay`, { skip }, async (t) => {
    const { service, ids, large, other, webhook } = await filled(t, await options(t));
    const listed = async () => (await service.rest("GET", "/events?limit=100")).body.data;
    const before = await listed();
    const job = await erased(service, { q: NEEDLE });
    assert.deepEqual([job.status, job.failed], ["completed", 0], JSON.stringify(job));
    assert.match(job.filter.sha256, /^[0-9a-f]{64}$/);

    for (const path of ["/events?limit=100", "/runs?limit=100", "/audit-log", "/jobs", `/webhooks/${webhook.id}/requests`]) {
      const { text, status } = await service.rest("GET", path);
      assert.equal(status, 200);
      assert.ok(!text.includes(NEEDLE), path);
    }
    const { body } = await service.rest("GET", "/runs?limit=100");
    for (const { id } of body.data) assert.ok(!(await service.rest("GET", `/runs/${id}`)).text.includes(NEEDLE), id);
    const after = await listed();
    // The cancelled run has left one more internal event.
    const bare = (events: { id: string; name: string; ts: number; receivedAt: string; duplicates: number }[]) =>
      events.map(({ id, name, ts, receivedAt, duplicates }) => [id, name, ts, receivedAt, duplicates]);
    assert.deepEqual(bare(after.filter(({ name }: { name: string }) => name !== "inngest/function.cancelled")), bare(before));
    assert.equal((await runsOfEvent(service, ids.waits))[0]?.status, "cancelled");
    assert.deepEqual((await service.rest("GET", `/events/${large}`)).body.data.data, {});
    assert.equal((await service.rest("GET", `/events/${other}`)).body.data.data.who, KEPT);
    assert.equal((await endedRun(service, other)).output.who, KEPT);
    assert.equal((await requestsOf(service, webhook)).length, 2);
    await batchGoesOn(service);
    if (store === "sqlite") await searchFiles(t, service.dataDir);
  });
}

/** A batch goes on without the events that were erased. */
async function batchGoesOn(service: TestService): Promise<void> {
  await service.send([1, 2].map(() => ({ name: "app/gathers", data: { who: KEPT } })));
  const { id } = await until("the batch to run", async () => {
    const [run] = (await service.rest("GET", "/runs?function=shop-gathers")).body.data;
    return run?.status === "completed" ? run : undefined;
  });
  assert.deepEqual((await service.rest("GET", `/runs/${id}`)).body.data.output, [KEPT, KEPT, KEPT]);
}

async function searchFiles(t: TestContext, folder: string): Promise<void> {
  const file = join(folder, "inlet.db");
  const backup = join(temporaryFolder(t), "later.backup");
  await makeBackup({ folder, to: backup });
  for (const path of [file, `${file}-wal`, backup]) {
    const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    assert.equal(bytes.indexOf(NEEDLE), -1, `${path} still holds it`);
  }
  assert.notEqual(readFileSync(file).indexOf(KEPT), -1, "the search finds what is there");
}

test("an erasure that was killed in the middle goes on after the restart, and leaves nothing behind", async (t) => {
  const dataDir = temporaryFolder(t);
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY];
  const flags = ["start", "--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir, "--log-level", "error", ...keys];
  const headers = { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" };
  const first = await startInlet(t, flags);
  const events = Array.from({ length: 80 }, () => ({ name: "app/steps", data: { who: NEEDLE } }));
  const all = JSON.stringify([...events, { name: "app/steps", data: { who: KEPT } }]);
  assert.equal((await call(`${first.url}/e/${EVENT_KEY}`, { method: "POST", body: all })).status, 200);
  const body = JSON.stringify({ kind: "events.erase", filter: { q: NEEDLE }, rate: 40 });
  const made = await call(`${first.url}/v1/jobs`, { method: "POST", headers, body });
  assert.equal(made.status, 202, made.text);
  const read = async (url: string) => (await call(`${url}/v1/jobs/${made.body.data.id}`, { headers })).body.data;
  const begun = await until("some events are erased", async () => {
    const job = await read(first.url);
    return job.done > 0 ? job : undefined;
  });
  await first.end("SIGKILL");
  assert.ok(begun.done < events.length, "it was killed in the middle");
  const second = await startInlet(t, flags);
  const job = await until("the job to end", async () => {
    const now = await read(second.url);
    return now.endedAt === null ? undefined : now;
  });
  assert.deepEqual([job.status, job.total, job.done, job.failed], ["completed", events.length, events.length, 0]);
  await searchFiles(t, dataDir);
});

test("an erasure needs a filter, and only roles that may repair make one", async (t) => {
  const service = await startTestService(t);
  const refused = async (body: object) => (await service.rest("POST", "/jobs", { body: { kind: "events.erase", ...body } })).status;
  assert.deepEqual([await refused({}), await refused({ filter: {} }), await refused({ filter: {}, all: true })], [400, 400, 400]);
});
