/**
 * The slots of a run limit are used while runs wait, however many keys a step limit distinguishes: a slot that is freed admits the next
 * run at once. Were a freed slot to wait for the next poll of the queue, a few runs would end per minute, and the deadline would pass.
 */

import assert from "node:assert/strict";
import { serveApp, syncApp } from "./support/apps/app-server.ts";
import type { SentEvent } from "./support/apps/published-sdk.ts";
import { V4 } from "./support/apps/sdk-v4.ts";
import { test } from "./support/both-stores.ts";
import { until } from "./support/runs.ts";
import { EVENT_KEY, startTestService } from "./support/service.ts";

const RUNS = 120;
/** Many more than there are slots. */
const KEYS = 60;
const SLOTS = 5;

test("many runs of many keys end within one run limit", async (t) => {
  const service = await startTestService(t, { mode: "dev", flags: ["--poll-interval", "60s"] });
  const client = V4.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true });
  const concurrency = { fn: [{ limit: SLOTS }], step: [{ limit: 1, key: "event.data.key" }] };
  let active = 0;
  let most = 0;
  let ended = 0;
  const fn = client.createFunction({ id: "fn", concurrency }, [{ event: "app/go" }], async () => {
    most = Math.max(most, ++active);
    await new Promise((resolve) => setImmediate(resolve));
    active--;
    ended++;
  });
  const app = await serveApp(t, V4.listener(client, [fn]));
  await syncApp(service, app.url);
  const events = Array.from({ length: RUNS }, (_, n): SentEvent => ({ name: "app/go", data: { key: n % KEYS } }));
  await client.send(events);
  await until("the end of all runs", () => (ended >= RUNS ? true : undefined));
  assert.equal(ended, RUNS);
  assert.ok(most <= SLOTS, `${most} runs at a time`);
});
