import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createEventIdGenerator, type RunId } from "@inlet/protocol";
import { awayFromMidnight } from "../../../../test/support/away-from-midnight.ts";
import {
  freshDatabase,
  inDatabase,
  migratedDatabase,
  OWN_LOCKS,
  openPatientStore,
  whyNoPostgres,
} from "../../../../test/support/postgres.ts";
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
} from "../../conformance/run-samples.ts";
import { sampleBatch, sampleEvent } from "../../conformance/samples.ts";
import type { RetentionMaintainParams, Store } from "../../contract/index.ts";

const skip = whyNoPostgres() ?? false;
const DAY_MS = 86_400_000;
const KEEP_ALL: RetentionMaintainParams["keptMs"] = { events: null, runs: null, requests: null };
const hooks = { onFault: () => undefined, onRecovery: () => undefined, rules: SAMPLE_RULES };
/** A generator never goes back in time. */
const idAt = (ms: number) => createEventIdGenerator().next(ms);

async function open(t: TestContext, url: string): Promise<Store> {
  const store = await openPatientStore({ url, ...hooks });
  t.after(() => store.stop());
  return store;
}

/** How many rows of a table stand in which of its partitions. */
async function placesOf(url: string, table: string): Promise<Record<string, number>> {
  const { rows } = await inDatabase(url, (client) =>
    client.query<{ place: string; count: string }>(`SELECT tableoid::regclass::text AS place, count(*) FROM ${table} GROUP BY 1`),
  );
  return Object.fromEntries(rows.map(({ place, count }) => [place, Number(count)]));
}

async function partitionsOf(url: string, table: string): Promise<string[]> {
  const { rows } = await inDatabase(url, (client) =>
    client.query<{ name: string }>("SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::regclass ORDER BY 1", [
      table,
    ]),
  );
  return rows.map(({ name }) => name);
}

function nameOf(table: string, at: number): string {
  return `${table}_${new Date(at).toISOString().slice(0, 10).replaceAll("-", "")}`;
}

/** An event received at an instant, whose id says so. */
async function appendAt(
  { store, environment }: Awaited<ReturnType<typeof makeScene>>,
  receivedAt: number,
  runs: ReturnType<typeof sampleRun>[] = [],
) {
  const event = sampleEvent({ id: idAt(receivedAt), runs });
  const { leased } = await store.eventAppend(sampleBatch(environment, [event], { receivedAt, lease: sampleLease() }));
  return { event, leased };
}

test("rows that move into their partition are read and written by others meanwhile", { skip }, async (t) => {
  const url = await migratedDatabase(t);
  const scene = await makeScene(await open(t, url));
  const { store, environment } = scene;
  // The database was migrated, and no node has run since.
  const now = Date.now() + 5 * DAY_MS;
  let [stored, isOver] = [0, false];
  const write = async () => {
    for (; !isOver; stored++) await appendAt(scene, now);
  };
  const read = async () => {
    while (!isOver) {
      const before = stored;
      const { events } = await store.eventList({ environmentId: environment.id, limit: 100_000 });
      assert.ok(events.length >= before, `${before} are stored, ${events.length} were found`);
    }
  };
  const others = Promise.all([write(), write(), read(), read()]);
  others.catch(() => undefined);
  while (stored < 20) await Promise.race([new Promise((resolve) => setTimeout(resolve, 5)), others]);
  // Left to the next sweep if the tables are in use all the time.
  while ("events_rest" in (await placesOf(url, "events"))) {
    await Promise.race([store.retentionMaintain({ now, keptMs: KEEP_ALL }), others]);
  }
  isOver = true;
  await others;
});

test("partitions are made ahead; what came before its partition was made moves into it", { skip }, async (t) => {
  await awayFromMidnight();
  const url = await freshDatabase(t);
  const scene = await makeScene(await open(t, url));
  const [today, far] = [Date.now(), Date.now() + 40 * DAY_MS];
  await appendAt(scene, today);
  await appendAt(scene, far);
  assert.deepEqual(await placesOf(url, "events"), { events_before: 1, events_rest: 1 });
  const day = { events: 30 * DAY_MS, runs: 30 * DAY_MS, requests: 30 * DAY_MS };
  await Promise.all([1, 2, 3].map(() => scene.store.retentionMaintain({ now: today, keptMs: day })));
  const ahead = [1, 2, 3].map((days) => nameOf("events", today + days * DAY_MS));
  assert.deepEqual(await partitionsOf(url, "events"), [...ahead, "events_before", "events_rest"].sort());
  await appendAt(scene, today + DAY_MS);
  await scene.store.retentionMaintain({ now: far, keptMs: { ...KEEP_ALL } });
  assert.deepEqual(await placesOf(url, "events"), { events_before: 1, [ahead[0] as string]: 1, [nameOf("events", far)]: 1 });
  const { events } = await scene.store.eventList({ environmentId: scene.environment.id, limit: 10 });
  assert.equal(events.length, 3);
});

test("partitions are made in spite of those who use the tables in another order, and none of them is ended for it", { skip }, async (t) => {
  await awayFromMidnight();
  const url = await freshDatabase(t);
  const { store } = await makeScene(await open(t, url));
  const today = Date.now();
  await inDatabase(url, async (other) => {
    await other.query("BEGIN");
    await other.query("SELECT FROM steps_rest");
    const maintained = store.retentionMaintain({ now: today, keptMs: KEEP_ALL });
    const locked = `SELECT FROM ${OWN_LOCKS} WHERE relation = 'runs_rest'::regclass AND mode = 'AccessExclusiveLock' AND granted`;
    while ((await other.query(locked)).rowCount === 0);
    await other.query("SELECT FROM runs_rest");
    await other.query("COMMIT");
    await maintained;
  });
  assert.ok((await partitionsOf(url, "runs")).includes(nameOf("runs", today + DAY_MS)));
});

test("a partition is dropped when all of it may go, and not while a run needs something of it", { skip }, async (t) => {
  await awayFromMidnight();
  const url = await freshDatabase(t);
  const scene = await makeScene(await open(t, url));
  const { store, functions } = scene;
  const day = { events: 30 * DAY_MS, runs: null, requests: null };
  const [first, second] = [Date.now() + DAY_MS, Date.now() + 2 * DAY_MS];
  await store.retentionMaintain({ now: Date.now(), keptMs: day });
  await appendAt(scene, first);
  const run = sampleRun(functions[0]);
  const { leased } = await appendAt(scene, second, [run]);
  await appendAt(scene, second);
  while (!(await store.eventTypeCount({ limit: 1_000 })));
  const maintain = () => store.retentionMaintain({ now: second + 32 * DAY_MS, keptMs: day });
  await maintain();
  const left = await partitionsOf(url, "events");
  assert.ok(!left.includes(nameOf("events", first)), "dropped");
  assert.ok(left.includes(nameOf("events", second)), "its event is needed");
  await store.eventExpireMany({ until: second + DAY_MS, after: `${nameOf("events", second)} -1`, limit: 10 });
  assert.equal((await placesOf(url, "events"))[nameOf("events", second)], 1, "others that are old do not stay with it");
  const [entry] = leased;
  assert.ok(entry?.runNo);
  await advance(scene, { runNo: entry.runNo, entry }, { end: sampleEnd() });
  // Its event has not ended all of its waits.
  const resumption = `
    INSERT INTO resumptions (environment_id, event_name, event_no, after_wait_no)
    SELECT environment_id, name, sequence, 0 FROM ${nameOf("events", second)} JOIN event_names USING (name_id)`;
  await inDatabase(url, (client) => client.query(resumption));
  await maintain();
  assert.ok((await partitionsOf(url, "events")).includes(nameOf("events", second)));
  await inDatabase(url, (client) => client.query("DELETE FROM resumptions"));
  await maintain();
  assert.ok(!(await partitionsOf(url, "events")).includes(nameOf("events", second)));
});

test("a partition found unneeded long before it is dropped stays if a run began meanwhile with its event", { skip }, async (t) => {
  await staysIf(t, async ({ scene, now }) => {
    const { store, environment, functions } = scene;
    const [event] = (await store.eventList({ environmentId: environment.id, limit: 1 })).events;
    assert.ok(event);
    const run = sampleRun(functions[0], { id: idAt(now) as string as RunId });
    const of = { environmentId: environment.id, eventSequence: event.sequence };
    assert.ok((await store.runStart({ ...of, run, now, lease: sampleLease() })).isStarted);
  });
});

test("a partition found unneeded stays if an event was stored in it meanwhile, whose sender's id is of an old day", { skip }, async (t) => {
  await staysIf(t, async ({ scene, first, now }) => {
    const { store, environment } = scene;
    await store.eventAppend(sampleBatch(environment, [sampleEvent({ id: idAt(first) })], { receivedAt: now, idsFromSender: true }));
  });
});

/** `act` happens when nothing of a partition of the day of `first` is needed and while dropping it waits, for long. */
async function staysIf(
  t: TestContext,
  act: (at: { scene: Awaited<ReturnType<typeof makeScene>>; first: number; now: number }) => Promise<void>,
): Promise<void> {
  await awayFromMidnight();
  const url = await freshDatabase(t);
  let now = Date.now();
  const store = await openPatientStore({ url, ...hooks, now: () => now });
  t.after(() => store.stop());
  const scene = await makeScene(store);
  const first = now + DAY_MS;
  const table = nameOf("events", first);
  const keptMs = { ...KEEP_ALL, events: 30 * DAY_MS };
  await store.retentionMaintain({ now, keptMs });
  await appendAt(scene, first);
  while (!(await store.eventTypeCount({ limit: 1_000 })));
  now = first + 32 * DAY_MS;
  await inDatabase(url, async (other) => {
    await other.query("BEGIN");
    await other.query(`SELECT FROM ${table}`);
    const maintained = store.retentionMaintain({ now, keptMs });
    const waits = `SELECT FROM ${OWN_LOCKS} WHERE relation = '${table}'::regclass AND NOT granted`;
    while ((await other.query(waits)).rowCount === 0);
    await act({ scene, first, now });
    now += 120_000;
    await other.query("COMMIT");
    await maintained;
  });
  assert.ok((await partitionsOf(url, "events")).includes(table), "it has what is needed now");
}

test("a partition of runs goes with all that belongs to them, and not while one goes on", { skip }, async (t) => {
  await awayFromMidnight();
  const url = await migratedDatabase(t);
  const scene = await makeScene(await open(t, url));
  const { store } = scene;
  const begun = await beginOne(scene, {}, {});
  const done = await beginOne(scene, {}, {});
  await advance(scene, done, { steps: [doneStep("a")], end: sampleEnd() });
  const tables = ["runs", "batched_events", "steps", "failed_attempts", "calls"];
  const before = async () =>
    (await Promise.all(tables.map((table) => partitionsOf(url, table)))).filter((names) => names.some((name) => name.endsWith("_before")));
  const maintain = () => store.retentionMaintain({ now: Date.now() + 40 * DAY_MS, keptMs: { ...KEEP_ALL, runs: 30 * DAY_MS } });
  await maintain();
  assert.equal((await before()).length, tables.length, "a run goes on");
  await advance(scene, begun, { end: sampleEnd() });
  await maintain();
  assert.equal((await before()).length, 0);
  const again = await beginOne(scene);
  await advance(scene, again, { steps: [doneStep("a")] });
  assert.equal((await detailsOf(scene, again.run.id)).steps.length, 1, "what fits nowhere is kept all the same");
});
