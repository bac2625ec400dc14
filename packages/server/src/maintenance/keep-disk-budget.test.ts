/** The budget on PostgreSQL, where whole partitions go, and on the embedded store; more of the latter is in test/retention-has-rules.test.ts. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { createEventIdGenerator } from "@inlet/protocol";
import { pino } from "pino";
import { archiveFolder, archiveOf } from "../../test/support/archive-scene.ts";

import { freshDatabase, openPatientStore, whyNoPostgres } from "../../test/support/postgres.ts";
import { temporaryFolder } from "../../test/support/service.ts";
import { makeScene, SAMPLE_RULES, sampleLease, sampleRun } from "../store/conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../store/conformance/samples.ts";
import type { NewRun, RemovalParams } from "../store/contract/index.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { keepDiskBudget } from "./keep-disk-budget.ts";

const DAY_MS = 86_400_000;
/** Partitions of one day. */
const KEPT = { events: 30 * DAY_MS, runs: 30 * DAY_MS, requests: 30 * DAY_MS };
const DAY_BYTES = 6 * 1024 * 1024;
const EVENTS_A_DAY = 3;

async function filledStore(t: TestContext) {
  const hooks = { onFault: () => undefined, onRecovery: () => undefined, rules: SAMPLE_RULES };
  const store = await openPatientStore({ url: await freshDatabase(t), ...hooks });
  t.after(() => store.stop());
  const scene = await makeScene(store);
  const environmentId = scene.environment.id;
  await store.retentionMaintain({ now: Date.now(), keptMs: KEPT });
  /** A day's worth of events that do not compress, the first of which may start a run. */
  async function fill(day: number, runs: NewRun[] = []): Promise<void> {
    const receivedAt = Date.now() + day * DAY_MS;
    // A generator never goes back in time.
    const ids = createEventIdGenerator();
    const data = () => JSON.stringify({ text: randomBytes(DAY_BYTES / EVENTS_A_DAY / 2).toString("hex") });
    const events = Array.from({ length: EVENTS_A_DAY }, (_, i) =>
      sampleEvent({ id: ids.next(receivedAt), data: data(), runs: i === 0 ? runs : [] }),
    );
    await store.eventAppend(sampleBatch(scene.environment, events, { receivedAt, lease: sampleLease() }));
  }
  const eventsOf = async (day: number) => {
    const [from, to] = [Date.now() + (day - 0.5) * DAY_MS, Date.now() + (day + 0.5) * DAY_MS];
    return (await store.eventList({ environmentId, limit: 10, bytesMax: 2 * DAY_BYTES, from, to })).events.length;
  };
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  const sweep = (budgetBytes: number, archive: ReturnType<typeof archiveOf> | null = null) =>
    keepDiskBudget({ store, budgetBytes, now: () => Date.now() + 4 * DAY_MS, log, archive }).sweep();
  return { store, scene, fill, eventsOf, logged, sweep };
}

test("postgres: the oldest partitions go until the database is within its budget, and not while a run needs them", {
  skip: whyNoPostgres() ?? false,
}, async (t) => {
  const { store, scene, fill, eventsOf, logged, sweep } = await filledStore(t);
  await fill(1);
  await fill(2, [sampleRun(scene.functions[0])]);
  await fill(3);
  while (!(await store.eventTypeCount({ limit: 1_000 })));
  const used = await store.retentionUsedBytes();
  await sweep(used * 1.2);
  assert.deepEqual([logged, await eventsOf(1)], [[], EVENTS_A_DAY], "within nine tenths nothing goes");

  const budget = used * 1.05;
  const folder = await archiveFolder(t);
  await writeFile(join(folder, "production"), "in the way");
  await sweep(budget, archiveOf(store, folder));
  assert.deepEqual(await Promise.all([1, 2, 3].map(eventsOf)), [EVENTS_A_DAY, EVENTS_A_DAY, EVENTS_A_DAY], "nothing is archived");
  assert.match(
    logged.splice(0).join(),
    /^the store exceeds --disk-budget, and nothing can be removed, because the archive cannot be written$/,
  );
  assert.ok(await store.retentionArchiveFailingSince());

  await rm(join(folder, "production"));
  await sweep(budget, archiveOf(store, folder));
  assert.equal(await store.retentionArchiveFailingSince(), null);
  assert.equal((await readdir(join(folder, "production", "events"))).length, 1, "what goes is archived");
  assert.deepEqual(await Promise.all([1, 2, 3].map(eventsOf)), [0, EVENTS_A_DAY, EVENTS_A_DAY]);
  assert.ok((await store.retentionUsedBytes()) <= budget * 0.9);
  assert.match(logged.splice(0).join(), /^the store reached --disk-budget: the oldest events, runs and webhook requests were removed$/);

  await sweep(1);
  assert.deepEqual(await Promise.all([2, 3].map(eventsOf)), [EVENTS_A_DAY, 0], "an unfinished run needs its event");
  assert.match(logged.splice(0).join(), /exceeds --disk-budget, and nothing more can be removed/);
});

/** Forty events of today, and one of two months ago with a run that has not ended. */
async function embeddedStore(t: TestContext) {
  const folder = temporaryFolder(t);
  const store = openSqliteStore({ folder, onFault: () => undefined, onRecovery: () => undefined, rules: SAMPLE_RULES });
  t.after(() => store.stop());
  const scene = await makeScene(store);
  const environmentId = scene.environment.id;
  const append = (ageMs: number, data: string, runs: NewRun[] = []) => {
    const receivedAt = Date.now() - ageMs;
    const event = sampleEvent({ id: createEventIdGenerator().next(receivedAt), data, runs });
    return store.eventAppend(sampleBatch(scene.environment, [event], { receivedAt, lease: sampleLease() }));
  };
  await append(60 * DAY_MS, "{}", [sampleRun(scene.functions[0])]);
  const text = JSON.stringify({ text: randomBytes(100_000).toString("hex") });
  for (let n = 40; n > 0; n--) await append(n * 60_000, text);
  while (!(await store.eventTypeCount({ limit: 1_000 })));
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(JSON.parse(line).msg) });
  // The log counts as long as the read thread uses it.
  while (!(await store.retentionReclaim())) await new Promise((resolve) => setTimeout(resolve, 10));
  const budgetBytes = (await store.retentionUsedBytes()) * 1.05;
  const sweep = () => keepDiskBudget({ store, budgetBytes, now: () => Date.now(), log }).sweep();
  const left = async () => (await store.eventList({ environmentId, limit: 100, bytesMax: 100_000_000 })).events.length;
  /** On a machine that stands still for a second, a sweep may take a short read for a long one. */
  async function sweepUntil(fewerThan: number): Promise<void> {
    for (let n = 0; n < 20 && (await left()) >= fewerThan; n++) await sweep();
  }
  return { folder, store, log, sweep, sweepUntil, left, logged };
}

test("sqlite: no more goes than must, however old an unfinished run is", async (t) => {
  const { sweepUntil, left } = await embeddedStore(t);
  await sweepUntil(36);
  const events = await left();
  assert.ok(events > 28 && events < 36, `${events} are left of 41: a sixth had to go`);
});

test("sqlite: nothing goes while a backup reads, since the log only grows by it; it goes afterwards", async (t) => {
  const { folder, sweep, sweepUntil, left, logged } = await embeddedStore(t);
  const backup = new DatabaseSync(join(folder, "inlet.db"), { readOnly: true });
  backup.exec("BEGIN; SELECT count(*) FROM events");
  // After the first slice, the log has what was removed.
  await sweep();
  await sweep();
  assert.ok((await left()) > 35, `${await left()} are left of 41`);
  assert.match(logged.join(), /once a backup or another long read has ended/);
  backup.close();
  await sweepUntil(36);
  assert.ok((await left()) < 36);
});

test("sqlite: a node that stops ends its sweep after the slice that it is at", async (t) => {
  const { store, log, left, logged } = await embeddedStore(t);
  const stopping = {
    ...store,
    runExpireMany(params: RemovalParams) {
      void sweeper.stop();
      return store.runExpireMany(params);
    },
  };
  const sweeper = keepDiskBudget({ store: stopping, budgetBytes: 1, now: () => Date.now(), log });
  await sweeper.sweep();
  assert.ok((await left()) > 30, `${await left()} are left of 41`);
  assert.deepEqual(logged, []);
});
