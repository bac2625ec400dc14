/**
 * Thousands of runs wait for one event name, each for a value of its own, and a burst of matching events arrives while the runs that were
 * resumed go on. Every one of them is resumed by its event, and PostgreSQL is not the worse for it: no backend ends. WAITS=20000 makes it
 * harder.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunNo } from "@inlet/protocol";
import {
  advance,
  beginOne,
  makeScene,
  SAMPLE_RULES,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleStep,
  stepId,
} from "../src/store/conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../src/store/conformance/samples.ts";
import { inDatabase, openPatientStore, ownPostgres, whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const WAITING = Number(process.env.WAITS ?? 2_000);
const AT_ONCE = 400;
const BURST = 64;
const BURSTS = 4;
const FAR = 9_000_000_000_000;

/** Runs that wait, one for each number. */
async function waitFor(scene: Scene, count: number): Promise<Map<number, RunNo>> {
  const waiting = new Map<number, RunNo>();
  let next = 0;
  const begin = async () => {
    for (let n = next++; n < count; n = next++) {
      const begun = await beginOne(scene, {}, { data: `{"n":${n}}` });
      const id = stepId("wait");
      const step = sampleStep("wait", { kind: "wait", status: "waiting", until: FAR, detail: "answer" });
      const wait = { kind: "event", eventName: "answer", expression: "same n", match: { path: "n", key: String(n) }, stepId: id } as const;
      const entries = [{ kind: "resume", stepId: id, dueAt: FAR } as const];
      await advance(scene, begun, { status: "waiting", steps: [step], waits: [{ ...wait, since: 0, expiresAt: FAR }], entries });
      waiting.set(n, begun.runNo);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, begin));
  return waiting;
}

/** An event for a number; whoever it resumes ends at once. Returns the run that it resumed. */
async function answer(scene: Scene, n: number): Promise<RunNo | null> {
  const event = sampleEvent({ name: "answer", data: `{"n":${n}}` });
  const { leased } = await scene.store.eventAppend(sampleBatch(scene.environment, [event], { receivedAt: 3_000, lease: sampleLease() }));
  const [entry, ...others] = leased;
  assert.deepEqual(others, []);
  if (!entry?.runNo) return null;
  assert.equal(entry.kind, "resume");
  assert.notEqual(entry.eventSequence, null);
  const { applied } = await advance(scene, { runNo: entry.runNo, entry }, { end: sampleEnd() });
  assert.equal(applied, true);
  return entry.runNo;
}

test(`a burst of events among ${WAITING} waits resumes each of its runs, and no backend of PostgreSQL ends`, { skip }, async (t) => {
  const { url } = await ownPostgres(t);
  const faults: string[] = [];
  const store = await openPatientStore({
    url,
    rules: SAMPLE_RULES,
    onFault: (reason) => faults.push(reason),
    onRecovery: () => undefined,
  });
  t.after(() => store.stop());
  const scene = await makeScene(store);
  const startedAt = () => inDatabase(url, async (client) => (await client.query("SELECT pg_postmaster_start_time() AS at")).rows[0].at);
  const [began, pids] = [await startedAt(), await backends(url)];
  const waiting = await waitFor(scene, WAITING);
  for (let burst = 0; burst < BURSTS; burst++) {
    const numbers = Array.from({ length: BURST }, (_, index) => burst * BURST + index);
    const resumed = await Promise.all(numbers.map((n) => answer(scene, n)));
    assert.deepEqual(
      resumed,
      numbers.map((n) => waiting.get(n)),
    );
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(await startedAt(), began);
  assert.ok((await backends(url)).size >= pids.size, "the background processes are those of the beginning");
  for (const pid of pids) assert.ok((await backends(url)).has(pid), `process ${pid} is still there`);
});

/** Processes that a crash of any backend would replace. */
async function backends(url: string): Promise<Set<number>> {
  const text = "SELECT pid FROM pg_stat_activity WHERE backend_type IN ('checkpointer', 'background writer', 'walwriter')";
  return inDatabase(url, async (client) => new Set((await client.query<{ pid: number }>(text)).rows.map(({ pid }) => pid)));
}
