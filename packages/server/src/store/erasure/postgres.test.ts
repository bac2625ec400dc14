/** Erasure of an event that a batch collects, while another transaction is adding to the batch; and beside many responses that name other events. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import { Client } from "pg";
import { onEnd } from "../../../test/support/on-end.ts";
import { inDatabase, migratedDatabase, OWN_LOCKS, openPatientStore, whyNoPostgres } from "../../../test/support/postgres.ts";
import { explainEverything, plansWhile } from "../../../test/support/postgres-plans.ts";
import { until } from "../../../test/support/runs.ts";
import { makeScene, SAMPLE_RULES, sampleLease } from "../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../conformance/samples.ts";
import type { ClaimedEntry } from "../contract/index.ts";
import { boundedKey } from "../postgres/bounded-key.ts";
import { markLock } from "../postgres/locks.ts";

const WAITING = `SELECT FROM ${OWN_LOCKS} WHERE locktype = 'advisory' AND NOT granted`;

function gatheringWithout(value: string, gone: ReadonlySet<number>): string | null {
  const left = (JSON.parse(value) as number[]).filter((one) => !gone.has(one));
  return left.length === 0 ? null : JSON.stringify(left);
}

test("postgres: an erased event does not come back in a batch that grows at the same time", {
  skip: whyNoPostgres() ?? false,
}, async (t) => {
  const url = await migratedDatabase(t);
  const store = await openPatientStore({ url, rules: SAMPLE_RULES });
  onEnd(t, () => store.stop());
  const { environment, functions } = await makeScene(store);
  const [environmentId, functionNo] = [environment.id, functions[0]];
  const event = sampleEvent({ starts: [{ functionNo, dueAt: 1_000 }] });
  const { leased } = await store.eventAppend(sampleBatch(environment, [event], { lease: sampleLease() }));
  const [entry] = leased as [ClaimedEntry];
  const sequence = entry.eventSequence as number;
  // Longer than an index allows: what is stored is its hash.
  const mark = { kind: "batch", key: "k".repeat(2_000), expiresAt: 9_000 } as const;
  const decide = () => ({ marks: [{ ...mark, value: `[${sequence},2]` }] });
  await store.functionStart({ environmentId, entry, functionNo, marks: [mark], now: 2_000, lease: sampleLease(), decide });

  // What a start of event 3 does, held between reading and writing the mark.
  const client = new Client(url);
  await client.connect();
  onEnd(t, () => client.end());
  const stored = { kind: mark.kind, key: boundedKey(mark.key) };
  await client.query("BEGIN");
  await client.query("SELECT pg_advisory_xact_lock($1)", [markLock(environmentId, functionNo, stored).toString()]);
  const erasing = store.eventErase({ environmentId, sequences: [sequence], gatheringWithout });
  let isErased = false;
  void erasing.then(() => (isErased = true));
  await until(
    "the erasure waits for the mark, or is done",
    async () => isErased || (await client.query(WAITING)).rowCount !== 0 || undefined,
  );
  await client.query("UPDATE marks SET value = $1 WHERE key = $2", [`[${sequence},2,3]`, stored.key]);
  await client.query("COMMIT");

  const { unfinished, calling, deciding, sequences } = await erasing;
  assert.deepEqual(
    { unfinished, calling, deciding, sequences },
    { unfinished: [] as RunNo[], calling: [], deciding: 0, sequences: [sequence] },
  );
  assert.equal(await store.markGet({ environmentId, functionNo, kind: mark.kind, key: mark.key }), "[2,3]");
});

/** Each names an event of a millisecond of its own. */
const RESPONSES = `
  WITH ids AS (SELECT n, first_id_at(n) AS id FROM generate_series(1, 5000) AS n),
    keys AS (INSERT INTO idempotency_keys (owner, key, fingerprint, started_at, status, body) SELECT 'key_1', n, '', 1, 201, id FROM ids)
  INSERT INTO idempotency_key_times (owner, key, id_time) SELECT 'key_1', n, left(id, 10) FROM ids`;

test("postgres: an erasure does not read the responses that name other events", { skip: whyNoPostgres() ?? false }, async (t) => {
  const url = await migratedDatabase(t);
  await inDatabase(url, async (client) => {
    await client.query(RESPONSES);
    await client.query("ANALYZE idempotency_keys, idempotency_key_times");
  });
  await explainEverything(url);
  const seen = await plansWhile(async () => {
    const store = await openPatientStore({ url, rules: SAMPLE_RULES });
    onEnd(t, () => store.stop());
    const { environment } = await makeScene(store);
    await store.eventAppend(sampleBatch(environment, [sampleEvent(), sampleEvent()]));
    const { events } = await store.eventList({ environmentId: environment.id, limit: 2 });
    const sequences = events.map(({ sequence }) => sequence);
    assert.equal((await store.eventErase({ environmentId: environment.id, sequences, gatheringWithout })).eventIds.length, 2);
  });
  const reads = seen.flatMap(({ nodes }) => nodes.filter((node) => node["Relation Name"]?.startsWith("idempotency_key")));
  assert.ok(reads.length > 0);
  const rows = reads.map((node) => ((node["Actual Rows"] ?? 0) + (node["Rows Removed by Filter"] ?? 0)) * (node["Actual Loops"] ?? 0));
  assert.ok(Math.max(...rows) < 100, `${Math.max(...rows)} rows of responses were read`);
});
