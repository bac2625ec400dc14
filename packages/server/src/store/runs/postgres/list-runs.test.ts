/** Lists with filters that no index supports read slices of runs, and stop early. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";
import { makeScene, SAMPLE_RULES } from "../../conformance/run-samples.ts";

/** Many more than a search reads within its time. */
const RUNS = 20_000;
const MANY_RUNS = `
  INSERT INTO runs (run_no, environment_id, run_id, function_no, event_no, status, lane, created_at, ended_at)
  SELECT n, $1, '01' || lpad(n::text, 24, '0'), $2, 1, 'failed', 'app:1', 1, 1 FROM generate_series(1, ${RUNS}) AS n`;

test("postgres: a list of runs by whether they were rerun stops early, with a cursor", { skip: whyNoPostgres() ?? false }, async (t) => {
  const url = await migratedDatabase(t);
  const store = await openPatientStore({ url, rules: SAMPLE_RULES });
  t.after(() => store.stop());
  const { environment, functions } = await makeScene(store);
  await inDatabase(url, (client) => client.query(MANY_RUNS, [environment.id, functions[0]]));
  const list = { environmentId: environment.id, limit: 20, status: "failed", rerun: true } as const;
  const first = await store.runList(list);
  assert.deepEqual(first.runs, []);
  assert.ok(first.next);
  const second = await store.runList({ ...list, after: first.next });
  assert.ok(second.next === null || second.next < first.next);
});
