/** One event resumes every run that waits for it, in parts, while other events are accepted and their runs end. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { WAITS_PER_PART_MAX } from "../src/store/resumptions/contract.ts";
import { serveApp, syncApp } from "./support/apps/app-server.ts";
import type { SentEvent } from "./support/apps/published-sdk.ts";
import { V4 } from "./support/apps/sdk-v4.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { EVENT_KEY, startTestService } from "./support/service.ts";

/** More than are resumed in one part. */
const RUNS = WAITS_PER_PART_MAX + 10;
const EVENTS_PER_CALL = 105;

for (const engine of ["sqlite", "postgres"] as const) {
  const skip = engine === "postgres" ? (whyNoPostgres() ?? false) : false;
  test(`${engine}: every run is resumed, once`, { skip }, async (t) => {
    const databaseUrl = engine === "postgres" ? await migratedDatabase(t) : undefined;
    const service = await startTestService(t, { mode: "dev", ...(databaseUrl !== undefined && { databaseUrl }) });
    const client = V4.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true });
    const resumed: number[] = [];
    let others = 0;
    const waits = client.createFunction({ id: "waits" }, [{ event: "app/begin" }], async ({ event, step }) => {
      const go = await step.waitForEvent("go", { event: "app/go", timeout: "1h" });
      if (go) resumed.push(event.data.n);
    });
    const other = client.createFunction({ id: "other" }, [{ event: "app/other" }], () => {
      others++;
    });
    const app = await serveApp(t, V4.listener(client, [waits, other]));
    await syncApp(service, app.url);
    const events = Array.from({ length: RUNS }, (_, n): SentEvent => ({ name: "app/begin", data: { n } }));
    for (let at = 0; at < RUNS; at += EVENTS_PER_CALL) await client.send(events.slice(at, at + EVENTS_PER_CALL));
    await until("all wait", async () => {
      // In this order: a run that leaves the queue between the two is found running.
      const { body: queued } = await service.rest("GET", "/runs?limit=1&status=queued");
      const { body: running } = await service.rest("GET", "/runs?limit=1&status=running");
      return queued.data.length === 0 && running.data.length === 0 ? true : undefined;
    });
    await client.send({ name: "app/go", data: {} });
    for (let n = 0; n < 5; n++) await client.send({ name: "app/other", data: { n } });
    await until("the others", () => (others === 5 ? true : undefined));
    await until("all are resumed", () => (resumed.length >= RUNS ? true : undefined));
    assert.equal(new Set(resumed).size, RUNS);
    assert.equal(resumed.length, RUNS, "no run goes on twice");
  });
}
