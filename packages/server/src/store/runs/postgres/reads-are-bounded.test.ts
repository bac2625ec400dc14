/** Decisions and calls read payloads only as far as they need them, and never more than a bounded size at once. */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { cuttingProxy } from "../../../../test/support/cutting-proxy.ts";
import { migratedDatabase, openPatientStore, whyNoPostgres } from "../../../../test/support/postgres.ts";
import {
  advance,
  type Begun,
  beginOne,
  doneStep,
  makeScene,
  SAMPLE_RULES,
  type Scene,
  sampleEnd,
  sampleLease,
  sampleRun,
} from "../../conformance/run-samples.ts";
import type { RunState } from "../../contract/index.ts";
import { PAGE_BYTES_MAX } from "../../shared/byte-bounds.ts";

const skip = whyNoPostgres() ?? false;
const RUNS = 12;
const EVENT_BYTES = 1024 * 1024;
/** The row that reaches the bound is read; the rest is for other columns and the escapes of JSON. */
const RESPONSE_BYTES_MAX = PAGE_BYTES_MAX + 2 * EVENT_BYTES;

async function open(t: TestContext) {
  const proxy = await cuttingProxy(t, await migratedDatabase(t));
  const store = await openPatientStore({ url: proxy.url, rules: SAMPLE_RULES });
  t.after(() => store.stop());
  return { proxy, scene: await makeScene(store) };
}

async function beginLarge(scene: Scene): Promise<Begun[]> {
  const begun: Begun[] = [];
  for (let n = 0; n < RUNS; n++) begun.push(await beginOne(scene, {}, { data: `{"n":${n},"text":"${"x".repeat(EVENT_BYTES)}"}` }));
  return begun;
}

const sum = (sizes: readonly number[]) => sizes.reduce((total, size) => total + size, 0);
const numberOf = ({ events }: Pick<RunState, "events">) => (JSON.parse(events()[0]?.data ?? "{}") as { n?: number }).n;

test("postgres: results of steps read no payloads of the events that started their runs", { skip }, async (t) => {
  const { proxy, scene } = await open(t);
  const begun = await beginLarge(scene);
  const sizes = proxy.measure();
  const results = await Promise.all(begun.map((one) => advance(scene, one, { steps: [doneStep("a")], entry: "keep" })));
  assert.ok(results.every(({ applied }) => applied));
  assert.ok(sum(sizes()) < EVENT_BYTES / 4, `${sum(sizes())} bytes`);
});

test("postgres: decisions that ask for the events of their runs get them, within a bounded size at once", { skip }, async (t) => {
  const { proxy, scene } = await open(t);
  const begun = await beginLarge(scene);
  const sizes = proxy.measure();
  const seen = new Map<number, number | undefined>();
  const results = await Promise.all(
    begun.map((one, n) =>
      advance(scene, one, (state) => {
        // Every third decision needs no event. The others hide the fault that asking without the events is.
        if (n % 3 === 0) return { steps: [doneStep("a")], entry: "keep" };
        try {
          seen.set(n, numberOf(state));
        } catch {
          return {};
        }
        return { end: sampleEnd() };
      }),
    ),
  );
  assert.ok(results.every(({ applied }) => applied));
  const asking = begun.flatMap((_one, n) => (n % 3 === 0 ? [] : [n]));
  assert.deepEqual(
    [...seen].sort(([a], [b]) => a - b),
    asking.map((n) => [n, n]),
  );
  for (const [n, { run, environmentId }] of begun.entries()) {
    const details = await scene.store.runGet({ environmentId, id: run.id });
    assert.equal(details?.status, n % 3 === 0 ? "running" : "completed");
  }
  assert.ok(Math.max(...sizes()) < RESPONSE_BYTES_MAX, `${Math.max(...sizes())} bytes`);
});

test("postgres: the data of many calls is read within a bounded size at once, and is complete", { skip }, async (t) => {
  const { proxy, scene } = await open(t);
  const begun = await beginLarge(scene);
  const value = JSON.stringify({ data: "y".repeat(EVENT_BYTES) });
  for (const one of begun) await advance(scene, one, { steps: [doneStep("a", value)], entry: "keep" });
  const [ended] = begun as [Begun];
  await advance(scene, ended, { end: sampleEnd() }, { entry: null });
  const sizes = proxy.measure();
  const contexts = await Promise.all(begun.map((one) => scene.store.runContext(one)));
  assert.equal(contexts[0], null);
  for (const [n, context] of contexts.entries()) {
    if (n === 0) continue;
    assert.equal(context?.run.no, begun[n]?.runNo);
    assert.equal(numberOf({ events: () => context?.events ?? [] }), n);
    assert.deepEqual(context?.steps, [{ id: "a", value }]);
  }
  assert.ok(Math.max(...sizes()) < RESPONSE_BYTES_MAX, `${Math.max(...sizes())} bytes`);
});

test("postgres: events that are asked for at once are read together, each once and within a bounded size", { skip }, async (t) => {
  const { proxy, scene } = await open(t);
  const { store, environment } = scene;
  const begun = await beginLarge(scene);
  const contexts = await Promise.all(begun.map((one) => store.runContext(one)));
  const sequences = contexts.map((context) => context?.events[0]?.sequence ?? 0);
  const read = (asked: readonly number[]) =>
    Promise.all(asked.map((sequence) => store.eventAt({ environmentId: environment.id, sequence })));
  const ofOne = proxy.measure();
  await read(Array.from({ length: 100 }, () => sequences[0] as number));
  assert.ok(sum(ofOne()) < 2 * EVENT_BYTES, `${sum(ofOne())} bytes`);
  const ofAll = proxy.measure();
  const found = await read([...sequences, 999_999]);
  assert.deepEqual(
    found.map((event) => event?.sequence),
    [...sequences, undefined],
  );
  assert.ok(Math.max(...ofAll()) < RESPONSE_BYTES_MAX, `${Math.max(...ofAll())} bytes`);
});

test("postgres: a run whose events are larger than that is decided and called with all of them", { skip }, async (t) => {
  const { scene } = await open(t);
  const { store, environment, functions } = scene;
  const begun = await beginLarge(scene);
  const contexts = await Promise.all(begun.map((one) => store.runContext(one)));
  const sequences = contexts.map((context) => context?.events[0]?.sequence ?? 0);
  const halves = [sequences.slice(0, RUNS / 2), sequences.slice(RUNS / 2).reverse()];
  const gathered = await Promise.all(
    halves.map(async (eventSequences) => {
      const run = sampleRun(functions[0], { eventSequences });
      const start = { environmentId: environment.id, eventSequence: eventSequences[0] ?? 0, run, now: 2_000, lease: sampleLease() };
      const [entry] = (await store.runStart(start)).leased;
      assert.ok(entry?.runNo);
      return { environmentId: environment.id, run, entry, runNo: entry.runNo };
    }),
  );
  const given = await Promise.all(gathered.map((one) => store.runContext(one)));
  assert.deepEqual(
    given.map((context) => context?.events.map(({ sequence }) => sequence)),
    halves,
  );
  const seen = new Map<number, number[]>();
  const decide = (state: RunState) => {
    seen.set(
      state.run.no,
      state.events().map(({ sequence }) => sequence),
    );
    return { end: sampleEnd() };
  };
  const results = await Promise.all(gathered.map((one) => advance(scene, one, decide)));
  assert.ok(results.every(({ applied }) => applied));
  assert.deepEqual(
    gathered.map(({ runNo }) => seen.get(runNo)),
    halves,
  );
});
