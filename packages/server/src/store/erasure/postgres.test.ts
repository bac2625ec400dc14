/** Erasure of an event that a batch collects, while another transaction is adding to the batch. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import { Client } from "pg";
import { onEnd } from "../../../test/support/on-end.ts";
import { migratedDatabase, OWN_LOCKS, openPatientStore, whyNoPostgres } from "../../../test/support/postgres.ts";
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
