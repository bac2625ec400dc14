/** Events and runs are removed while other transactions start runs for them, or read them. Each is held at a named point. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Client } from "pg";
import { onEnd } from "../../../test/support/on-end.ts";
import { migratedDatabase, OWN_LOCKS, openPatientStore, whyNoPostgres } from "../../../test/support/postgres.ts";
import { until } from "../../../test/support/runs.ts";
import {
  advance,
  beginOne,
  detailsOf,
  doneStep,
  makeScene,
  SAMPLE_RULES,
  sampleEnd,
  sampleLease,
  sampleRun,
} from "../conformance/run-samples.ts";
import { eventRemovalLock } from "../postgres/locks.ts";

const skip = whyNoPostgres() ?? false;
const WAITING = `SELECT FROM ${OWN_LOCKS} WHERE NOT granted`;

/** A run that has ended, with a step, and a connection that the test holds. */
async function openScene(t: TestContext) {
  const url = await migratedDatabase(t);
  const client = new Client(url);
  await client.connect();
  onEnd(t, () => client.end());
  const store = await openPatientStore({ url, rules: SAMPLE_RULES });
  onEnd(t, () => store.stop());
  const scene = await makeScene(store);
  const begun = await beginOne(scene);
  await advance(scene, begun, { steps: [doneStep("a")], end: sampleEnd({ endedAt: 2_000 }) });
  while (!(await store.eventTypeCount({ limit: 1_000 })));
  const environmentId = scene.environment.id;
  const { eventSequence } = await detailsOf(scene, begun.run.id);
  const waits = () => until("somebody waits", async () => (await client.query(WAITING)).rowCount || undefined);
  return { client, store, scene, environmentId, run: begun.run, runNo: begun.runNo, eventSequence, waits };
}

test("postgres: a run that is started while its event is removed is not started", { skip }, async (t) => {
  const { client, store, scene, environmentId, eventSequence, waits } = await openScene(t);
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock($1)", [eventRemovalLock().toString()]);
  await client.query("DELETE FROM events WHERE sequence = $1", [eventSequence]);
  const run = sampleRun(scene.functions[0]);
  const starting = store.runStart({ environmentId, eventSequence, run, now: 3_000, lease: sampleLease() });
  await waits();
  await client.query("COMMIT");
  assert.deepEqual(await starting, { isStarted: false, leased: [] });
  assert.equal(await store.runFind({ id: run.id }), null);
});

test("postgres: an event stays for which a run is started while old events are removed", { skip }, async (t) => {
  const { client, store, environmentId, runNo, eventSequence, waits } = await openScene(t);
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock_shared($1)", [eventRemovalLock().toString()]);
  const removing = store.eventExpireMany({ environmentId, until: 9_000, after: null, limit: 10 });
  await waits();
  // As if it had been started again.
  await client.query("UPDATE runs SET ended_at = NULL WHERE run_no = $1", [runNo]);
  await client.query("COMMIT");
  assert.equal((await removing).removed, 0);
  assert.notEqual(await store.eventAt({ environmentId, sequence: eventSequence }), null);
});

test("postgres: a run that is removed while it is read is read with all its steps", { skip }, async (t) => {
  const { client, store, environmentId, run, runNo, waits } = await openScene(t);
  await client.query("BEGIN; LOCK TABLE steps IN ACCESS EXCLUSIVE MODE");
  const reading = store.runGet({ environmentId, id: run.id });
  await waits();
  for (const table of ["steps", "calls", "runs"]) await client.query(`DELETE FROM ${table} WHERE run_no = $1`, [runNo]);
  await client.query("COMMIT");
  assert.deepEqual(
    (await reading)?.steps.map(({ name, status }) => [name, status]),
    [["a", "completed"]],
  );
  assert.equal(await store.runGet({ environmentId, id: run.id }), null);
});
