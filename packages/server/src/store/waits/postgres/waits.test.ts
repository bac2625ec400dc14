/** An event finds the waits it ends by value: how many others wait for the same name makes no difference. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { inDatabase, migratedDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";
import { explainEverything, type PlanNode, plansWhile } from "../../../../test/support/postgres-plans.ts";
import { beginOne, makeScene, SAMPLE_RULES, sampleLease } from "../../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../../conformance/samples.ts";

const skip = whyNoPostgres() ?? false;
const EVENTS = 20;

/** Rows of waits that were looked at while 20 events were stored, among so many waits for the same name. */
async function rowsLookedAt(t: TestContext, waits: number, { isAnalyzed }: { isAnalyzed: boolean }): Promise<number> {
  const url = await migratedDatabase(t);
  const open = () => openPatientStore({ url, rules: SAMPLE_RULES });
  const first = await open();
  const scene = await makeScene(first);
  const { runNo } = await beginOne(scene, {}, { data: '{"n":-1}' });
  await first.stop();
  await inDatabase(url, async (client) => {
    if (isAnalyzed) await client.query("ALTER TABLE waits SET (autovacuum_enabled = off)");
    await client.query(
      `INSERT INTO waits (environment_id, event_name, match_path, match_key, kind, run_no, step_id, since, expires_at)
       SELECT $1, 'answer', 'n', n::text, 'event', $2, 'wait', 0, 9000000000000 FROM generate_series(0, $3::integer - 1) AS n`,
      [scene.environment.id, runNo, waits],
    );
    if (isAnalyzed) await client.query("ANALYZE waits");
  });
  await explainEverything(url);
  const plans = await plansWhile(async () => {
    const store = await open();
    for (let n = 0; n < EVENTS; n++) {
      const event = sampleEvent({ name: "answer", data: `{"n":${n * 7}}` });
      await store.eventAppend(sampleBatch(scene.environment, [event], { receivedAt: 3_000, lease: sampleLease() }));
    }
    await store.stop();
  });
  const looks = plans
    .flatMap(({ nodes }) => nodes)
    .filter((node) => node["Relation Name"] === "waits" && !node["Node Type"].includes("Modify"));
  assert.ok(looks.length >= EVENTS, "waits were looked for");
  assert.deepEqual(
    looks.filter((node) => node["Node Type"] === "Seq Scan" && waits > 1_000).length,
    0,
    "the table is never read as a whole",
  );
  return looks.reduce((sum, node) => sum + rowsOf(node), 0);
}

function rowsOf(node: PlanNode): number {
  return ((node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0)) * (node["Actual Loops"] ?? 1);
}

test("among 100,000 waits for one name an event looks at no more than twice as many as among 1,000", { skip }, async (t) => {
  const few = await rowsLookedAt(t, 1_000, { isAnalyzed: true });
  const many = await rowsLookedAt(t, 100_000, { isAnalyzed: true });
  const unknown = await rowsLookedAt(t, 100_000, { isAnalyzed: false });
  for (const rows of [many, unknown]) assert.ok(rows <= Math.max(2 * few, EVENTS * 10), `${few} rows among 1,000, ${rows} among 100,000`);
});
