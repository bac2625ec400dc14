/** Retention by environment and by event type, and the disk budget: what goes, what stays, what is said. */

import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test as testOnce } from "node:test";
import { pino } from "pino";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { startInlet } from "./support/process.ts";
import { until } from "./support/runs.ts";
import { startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const HOUR_MS = 3_600_000;
const inTwoHours = () => Date.now() + 2 * HOUR_MS;

async function sent(service: TestService, name: string): Promise<string> {
  const { body, text } = await service.send({ name, data: {} });
  assert.ok(body?.ids, text);
  return body.ids[0];
}

test("an event type goes before its environment, and that before the installation", async (t, store) => {
  const same = { dataDir: temporaryFolder(t) };
  const before = await startTestService(t, same);
  const webhook = await makeWebhook(before);
  for (let n = 0; n < 2; n++) await post(webhook.url, {});
  const [long, short, usual] = [await sent(before, "kept/long"), await sent(before, "kept/short"), await sent(before, "kept/usual")];
  const environment = await before.rest("PUT", "/environments/production", { body: { retention: { events: "1h", requests: "90m" } } });
  assert.deepEqual(environment.body.data.retention, { events: "1h", runs: null, requests: "90m" }, environment.text);
  const put = (name: string, retention: string | null) =>
    before.rest("PUT", `/event-types/${encodeURIComponent(name)}`, { body: { retention } });
  const { name, retention } = (await put("kept/long", "30d")).body.data;
  assert.deepEqual({ name, retention }, { name: "kept/long", retention: "30d" });
  const unseen = { name, schema: null, mode: "observe", description: null, version: 0, faults: 0, retention };
  assert.deepEqual((await before.rest("GET", "/event-schemas")).body.data, [{ ...unseen, updatedAt: null }]);
  assert.equal((await before.rest("GET", "/event-types/kept%2Flong")).body.data.retention, "30d", "although no event was seen");
  assert.equal((await put("kept/short", "1m")).status, 200);
  await put("kept/usual", "1m");
  await put("kept/usual", null);
  await before.stop();

  const service = await startTestService(t, { ...same, now: inTwoHours, sweepEveryMs: 500 });
  const statusOf = async (id: string) => (await service.rest("GET", `/events/${id}`)).status;
  await sent(service, "young");
  for (const id of [short, usual]) await until(`event ${id} is gone`, async () => (await statusOf(id)) === 404 || undefined);
  // The newest request of an embedded store stays: new ids continue from it.
  const left = store === "sqlite" ? 1 : 0;
  await until("the requests are gone", async () => (await requestsOf(service, webhook)).length === left || undefined);
  assert.equal(await statusOf(long), 200);
  const type = await service.rest("GET", "/event-types/kept%2Flong");
  assert.equal(type.body.data.retention, "30d");
});

test("durations begin with 1m, names are whole, and what is not known is refused", async (t) => {
  const service = await startTestService(t);
  const fault = async (path: string, body: object) => {
    const { status, body: answer } = await service.rest("PUT", path, { body });
    return status === 200 ? 200 : `${answer.code} ${answer.details?.[0]?.field}`;
  };
  assert.equal(await fault("/environments/production", { retention: { events: "59s" } }), "request_invalid retention.events");
  assert.equal(await fault("/environments/production", { retention: { events: "soon" } }), "request_invalid retention.events");
  assert.equal(await fault("/environments/production", { retention: { event: "1d" } }), "request_invalid retention.event");
  assert.equal(await fault("/environments/production", { retention: { runs: "1m" } }), 200);
  assert.equal(await fault("/event-types/a", { retention: "0s" }), "request_invalid retention");
  assert.equal(await fault("/event-types/a%2F*", { retention: "1d" }), "request_invalid name");
  assert.equal(await fault("/event-types/a", { retained: "1d" }), "request_invalid retained");
  assert.equal(await fault("/environments/nowhere", { retention: {} }), "environment_not_found undefined");
  const { body } = await service.rest("GET", "/audit-log?action=environment.updated");
  assert.deepEqual(body.data[0].details, { retention: { events: null, runs: "1m", requests: null } });
});

testOnce("beyond --disk-budget the oldest go first, what a run needs stays, and the store stays within it", async (t) => {
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(line) });
  const service = await startTestService(t, { log, flags: ["--disk-budget", "64mb", "--body-limit", "8mb"] });
  await startApp(t, service, (client) => [
    client.createFunction({ id: "sleeper" }, { event: "app/needed" }, async ({ step }) => step.sleep("long", "30d")),
  ]);
  const needed = await sent(service, "app/needed");
  const first = await sent(service, "app/first");
  const big = { name: "app/big", data: { text: "x".repeat(4 * 1024 * 1024) } };
  const statusOf = async (id: string) => (await service.rest("GET", `/events/${id}`)).status;
  const budgetBytes = 64 * 1024 * 1024;
  const files = () =>
    readdirSync(service.dataDir).reduce(
      (sum, file) => sum + (statSync(join(service.dataDir, file), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
  let largest = 0;
  const answers = new Map<string, number>();
  const send = async () => {
    const { status, body, headers } = await service.send(big);
    largest = Math.max(largest, files());
    const answer = status === 200 ? "accepted" : `${status} ${body.code} ${headers.has("retry-after")}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  };
  // More than twice the budget, as fast as it is taken; and then on, because a fast sender is refused before much of it is stored.
  for (let n = 0; n < 9; n++) await Promise.all(Array.from({ length: 4 }, send));
  await until("the oldest event is gone", async () => {
    await send();
    return (await statusOf(first)) === 404 || undefined;
  });
  t.diagnostic(`${JSON.stringify([...answers])}, at most ${(largest / budgetBytes).toFixed(2)} of the budget`);
  assert.ok(largest <= 1.2 * budgetBytes, `${largest} bytes at one time`);
  assert.deepEqual(
    [...answers.keys()].filter((answer) => answer !== "accepted" && answer !== "503 disk_full true"),
    [],
  );
  assert.ok((answers.get("accepted") ?? 0) >= 8, JSON.stringify([...answers]));
  assert.equal(await statusOf(needed), 200, "the sleeping run needs its event");
  const said = await until("the log says so", () => logged.find((line) => line.includes("the store reached --disk-budget")));
  assert.ok(Date.parse(JSON.parse(said).removedUntil) > Date.now() - HOUR_MS, said);
  const latest = await until("there is room again", async () => (await service.send({ name: "app/latest", data: {} })).body.ids?.[0]);
  assert.equal(await statusOf(latest), 200);
  assert.ok(files() <= 1.2 * budgetBytes, `${files()} bytes in the end`);
  let [left, cursor]: [number, string | null] = [0, ""];
  while (cursor !== null) {
    const { body } = await service.rest("GET", `/events?name=app/big&limit=100${cursor && `&cursor=${cursor}`}`);
    left += body.data.length;
    cursor = body.page.next;
  }
  assert.ok(left >= 1 && left < 16, `${left} are left`);
});

testOnce("a start says aloud what it keeps", async (t) => {
  const { stdout } = await startInlet(t, ["start", "--port", "0", "--data-dir", temporaryFolder(t), "--run-retention", "none"]);
  assert.match(
    stdout(),
    /Retention: events 30d, ended runs for ever, webhook requests 30d; at most [\d.]+gb on disk, oldest removed first\./,
  );
});
