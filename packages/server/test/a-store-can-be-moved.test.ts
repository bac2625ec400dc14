/**
 * `inlet migrate-store` takes everything from a data folder to PostgreSQL: what the service on the folder said, the nodes on the
 * database say too, and what was under way goes on.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { COPIED_TABLES } from "../src/store/copy/copied-tables.ts";
import { poll, type RunView, runsOf, startApp } from "./support/app.ts";
import { freshDatabase, inDatabase, whyNoPostgres } from "./support/postgres.ts";
import { runInlet } from "./support/process.ts";
import { addRest, checkRest } from "./support/rows-to-move.ts";
import { startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { EXACT, everythingShown, fill, STRANGE_IDS } from "./support/store-to-move.ts";
import { makeWebhook, post } from "./support/webhooks.ts";

const skip = whyNoPostgres() ?? false;

test("everything is there afterwards, and what was under way goes on", { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await freshDatabase(t);
  const before = await startTestService(t, { dataDir });
  await before.rest("PUT", "/event-types/shop%2Fsleep", { body: { retention: "30d" } });
  const steps: string[] = [];
  const app = await startApp(t, before, (inlet) => [
    inlet.createFunction({ id: "sleeps" }, { event: "shop/sleep" }, async ({ step }) => {
      const first = await step.run("before", () => steps.push("before sleep") && "kept");
      await step.sleep("nap", "1h");
      await step.run("after", () => void steps.push("after sleep"));
      return first;
    }),
    inlet.createFunction({ id: "waits", concurrency: { fn: [{ limit: 1 }] } }, { event: "shop/wait" }, async ({ event, step }) => {
      const paid = await step.waitForEvent("paid", { event: "shop/paid", if: "async.data.order == event.data.order", timeout: "1h" });
      return { order: event.data.order, paid: paid?.data.by ?? null };
    }),
    inlet.createFunction({ id: "fails", retries: 0, ordering: { key: "1", onFailure: "hold" } }, { event: "shop/fail" }, () => {
      throw new Error("on purpose");
    }),
    inlet.createFunction({ id: "debounced", debounce: { period: "1h" } }, { event: "shop/often" }, ({ event }) => event.data.n),
    inlet.createFunction({ id: "yearly" }, { cron: "0 0 1 1 *" }, () => undefined),
  ]);
  const sent = await fill(before);
  await before.rest("PUT", "/event-types/shop%2Fsleep", { body: { schema: { type: "object" } } });
  await before.rest("GET", "/event-types/shop%2Fsleep");
  await poll(async () => ((await runOf(before, sent.sleep))?.status === "sleeping" ? true : null), "the sleep");
  await poll(async () => ((await runOf(before, sent.wait))?.status === "waiting" ? true : null), "the wait");
  await runsOf(before, sent.fail);
  const decision = { function: "shop-fails", pattern: "Error: on purpose", state: "ignored" };
  assert.equal((await before.rest("PUT", "/failures", { body: decision })).status, 200);
  await poll(async () => ((await before.rest("GET", "/event-types")).body.data.length > 8 ? true : null), "the counts of event types");
  const shown = await everythingShown(before, sent.webhook);
  await before.stop();
  await addRest(dataDir);

  const moved = await runInlet(t, ["migrate-store", "--json", "--from", dataDir, "--to", databaseUrl]);
  assert.equal(moved.code, 0, moved.stderr);
  const report = JSON.parse(moved.stdout);
  assert.equal(report.complete, true);
  assert.equal(report.tables.length, COPIED_TABLES.length);
  for (const { name } of COPIED_TABLES.filter((table) => !["batched_events"].includes(table.name))) {
    assert.ok(
      report.tables.find((table: { name: string }) => table.name === name).rows > 0,
      `nothing to copy in ${name}: the test is blind there`,
    );
  }

  await checkRest(databaseUrl);
  const first = await startTestService(t, { databaseUrl });
  const shownNow = await everythingShown(first, sent.webhook);
  for (const [path, text] of Object.entries(shown)) assert.equal(shownNow[path], text, path);
  await first.stop();
  await letTimersEnd(databaseUrl);
  const after = await startTestService(t, { databaseUrl });
  for (const [n, id] of STRANGE_IDS.entries()) {
    const again = await after.send({ name: "shop/odd", id, data: {} });
    assert.deepEqual(again.body.ids, [sent.strange[n]], `the id ${JSON.stringify(id)} is still a duplicate`);
  }
  assert.equal((await after.rest("GET", `/events/${sent.exact}`)).text.includes(EXACT), true, "the payload is as it was sent");
  const [slept] = await runsOf(after, sent.sleep);
  assert.deepEqual([slept.status, slept.output], ["completed", "kept"]);
  assert.deepEqual(steps, ["before sleep", "after sleep"], "no step ran twice");
  assert.equal((await after.send({ name: "shop/paid", data: { order: 7, by: "card" } })).status, 200);
  const [waited] = await runsOf(after, sent.wait);
  assert.deepEqual([waited.status, waited.output], ["completed", { order: 7, paid: "card" }]);
  const debounced = await poll(async () => {
    const { body } = await after.rest("GET", "/runs?function=shop-debounced");
    return body.data[0]?.status === "completed" ? (await after.rest("GET", `/runs/${body.data[0].id}`)).body.data : null;
  }, "the debounced run");
  assert.equal(debounced.output, 3);
  await everySequenceIsAhead(databaseUrl);
  // New rows take new numbers.
  const fresh = await makeWebhook(after);
  const posted = await post(fresh.url, { a: 1 });
  assert.equal(posted.status, 200, posted.text);
  assert.equal((await after.rest("POST", "/keys", { body: { kind: "event", name: "fresh" } })).status, 201);
  assert.equal((await after.rest("POST", "/environments", { body: { name: "fresh", kind: "custom" } })).status, 201);
  assert.equal(
    (await post(sent.oldToken.replace(/^http:\/\/[^/]+/, after.url), {})).status,
    404,
    "a token that was rotated away stays known",
  );
  await app.stop();
});

/** As if the hour of the sleep and of the debounce were over. */
async function letTimersEnd(databaseUrl: string): Promise<void> {
  await inDatabase(databaseUrl, async (client) => {
    await client.query("UPDATE queue SET rank = rank - 3600000, due_at = due_at - 3600000 WHERE lane = 'timers' AND kind <> 'resume'");
    await client.query("UPDATE marks SET value = jsonb_set(value::jsonb, '{dueAt}', '1')::text WHERE kind = 'debounce'");
  });
}

/** Every column that a sequence numbers, found by its default or identity, has room above what was copied. */
async function everySequenceIsAhead(url: string): Promise<void> {
  await inDatabase(url, async (client) => {
    const { rows } = await client.query<{ table: string; column: string; next: string }>(
      `SELECT table_name AS table, column_name AS column,
         coalesce(pg_get_serial_sequence(table_name, column_name), split_part(column_default, '''', 2)) AS next
       FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name = ANY ($1) AND (is_identity = 'YES' OR column_default LIKE 'nextval%')`,
      [COPIED_TABLES.map(({ name }) => name)],
    );
    assert.ok(rows.length >= 10, JSON.stringify(rows));
    for (const { table, column, next } of rows) {
      const { rows: found } = await client.query(`SELECT nextval($1) > coalesce(max(${column}), 0) AS ahead FROM ${table}`, [next]);
      assert.equal(found[0].ahead, true, `${table}.${column}`);
    }
  });
}

async function runOf(service: TestService, eventId: string): Promise<RunView | undefined> {
  return (await service.rest("GET", `/events/${eventId}/runs`)).body.data[0];
}
