/**
 * Runs that sleep cost nothing until they wake. A store that holds many sleepers is opened by the real process: nobody is
 * lost, those whose time passed while nothing ran wake at once and the others at their time, once each, and the process needs
 * no memory for those who sleep. That no statement looks at sleepers who are not due is query-plans.test.ts's
 * business. SLEEPERS=1000000 makes it harder.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type AppId, createEventIdGenerator, type FunctionNo, type LeaseId, type RunId, type StepId } from "@inlet/protocol";
import { type ClaimedEntry, type Environment, type Lease, type RunChange, type Store, TIMER_LANE } from "../src/store/contract/index.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { type StoreKind, test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { migratedDatabase, openPatientStore } from "./support/postgres.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { until } from "./support/runs.ts";
import { call, temporaryFolder } from "./support/service.ts";

const SLEEPERS = Number(process.env.SLEEPERS ?? 1_500);
const WAKING = 200;
const GROUP = 500;
const DAY_MS = 86_400_000;
/** Between the end of filling the store and the first wake: the process starts meanwhile. */
const START_MS = 4_000;
const WAKE_EVERY_MS = 10;
/** Generous, for machines that do other things as well: on an idle one it is a few milliseconds, and who is forgotten never wakes. */
const LATE_MS_MAX = 60_000;
/** A node knows the time of PostgreSQL to half of a round trip, which a busy machine can prolong. */
const CLOCKS_APART_MS = { sqlite: 0, postgres: 1_000 };
/** Waking 400 runs at once takes up to 70 MiB whether others sleep or not: what the garbage collector has not yet been asked to free. */
const MEMORY_MORE_MAX = 160 * 1024 * 1024;

const ids = createEventIdGenerator();
const NAP = "nap" as StepId;

test(`${SLEEPERS} sleeping runs survive restarts, and wake on time`, async (t, store) => {
  const calls = new Map<string, number[]>();
  const appUrl = await startBareApp(t, calls);
  const place = await placeOf(t, store);
  // It makes the environment, and shows what a process needs while nobody sleeps.
  const empty = await start(t, place);
  const memoryBefore = residentBytes(empty);
  await empty.end("SIGTERM");
  const wakes = await withStore(place, async (opened) => {
    const filler = await Filler.make(opened, appUrl);
    const now = Date.now();
    await filler.add(Array.from({ length: SLEEPERS }, (_, i) => now + DAY_MS + i));
    const overdue = Array.from({ length: WAKING }, () => Date.now() - 1_000);
    const first = Date.now() + START_MS;
    return filler.add([...overdue, ...Array.from({ length: WAKING }, (_, i) => first + i * WAKE_EVERY_MS)]);
  });

  const inlet = await start(t, place);
  const started = Date.now();
  const deadline = started + START_MS + WAKING * WAKE_EVERY_MS + LATE_MS_MAX + 10_000;
  while (calls.size < wakes.size && Date.now() < deadline) await sleep(20);
  for (const [id, dueAt] of wakes) {
    const [called, ...again] = calls.get(id) ?? [];
    assert.ok(called !== undefined, `a run that was due ${Date.now() - dueAt} ms ago has not woken`);
    assert.deepEqual(again, [], "woken once");
    assert.ok(called >= dueAt - CLOCKS_APART_MS[store], `woken ${dueAt - called} ms too early`);
    assert.ok(called - Math.max(dueAt, started) <= LATE_MS_MAX, `woken ${called - Math.max(dueAt, started)} ms late`);
  }
  const memoryMore = residentBytes(inlet) - memoryBefore;
  assert.ok(memoryMore < MEMORY_MORE_MAX, `${SLEEPERS} sleepers take ${Math.round(memoryMore / 1024 / 1024)} MiB`);

  await until("no run is called", async () => {
    const { body } = await call(`${inlet.url}/v1/runs?status=running`);
    return body.data?.length === 0 ? true : undefined;
  });
  await inlet.end("SIGKILL");
  await (await start(t, place)).end("SIGTERM");
  const { asleep, entries, nextDue } = await withStore(place, countSleepers);
  assert.deepEqual([asleep, entries], [SLEEPERS, SLEEPERS], "every sleeper is there, and will be woken");
  assert.ok((nextDue ?? 0) > Date.now(), "nobody was left behind");
  assert.equal(calls.size, wakes.size, "and nobody was woken who is not due");
});

/** Answers every call with a result, and notes when it came. */
async function startBareApp(t: TestContext, calls: Map<string, number[]>): Promise<string> {
  const server = createServer((request, response) => {
    const id = request.headers["x-run-id"];
    if (typeof id === "string") calls.set(id, [...(calls.get(id) ?? []), Date.now()]);
    request.resume().on("end", () => response.writeHead(200, { "x-inngest-sdk": "bare", "x-inngest-req-version": "1" }).end('"awake"'));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

/** The folder of an embedded store, or the address of a database. */
type Place = { folder: string } | { url: string };

async function placeOf(t: TestContext, store: StoreKind): Promise<Place> {
  return store === "sqlite" ? { folder: temporaryFolder(t) } : { url: await migratedDatabase(t) };
}

function start(t: TestContext, place: Place): Promise<InletProcess> {
  const flags = "folder" in place ? ["--data-dir", place.folder] : ["--database-url", place.url];
  return startInlet(t, ["dev", "--port", "0", "--log-level", "warn", ...flags]);
}

async function withStore<Result>(place: Place, use: (store: Store) => Promise<Result>): Promise<Result> {
  const hooks = { onFault: () => undefined, onRecovery: () => undefined };
  const store = "folder" in place ? openSqliteStore({ ...place, ...hooks }) : await openPatientStore({ ...place, ...hooks });
  try {
    return await use(store);
  } finally {
    await store.stop();
  }
}

/** Puts runs to sleep through the store's contract, as the executor does. */
class Filler {
  readonly #store: Store;
  readonly #environment: Environment;
  readonly #functionNo: FunctionNo;

  constructor(store: Store, environment: Environment, functionNo: FunctionNo) {
    this.#store = store;
    this.#environment = environment;
    this.#functionNo = functionNo;
  }

  static async make(store: Store, url: string): Promise<Filler> {
    const environment = (await store.environmentList()).find(({ name }) => name === "dev");
    assert.ok(environment);
    const runtime = { type: "http", url };
    const config = { id: "bare-nap", name: "nap", triggers: [{ event: "nap" }], steps: { step: { id: "step", name: "step", runtime } } };
    const functions = [{ id: config.id, name: config.name, config: JSON.stringify(config), crons: [] }];
    const app = {
      id: "app_bare" as AppId,
      name: "bare",
      url,
      sdk: "bare",
      headers: "inngest",
      framework: null,
      signingKeyId: null,
    } as const;
    await store.appSync({ ...app, environmentId: environment.id, checksum: "1", functions, syncedAt: Date.now() });
    const [known] = await store.functionList();
    assert.ok(known);
    return new Filler(store, environment, known.no);
  }

  /** One run for each time; says which wakes when. */
  async add(times: readonly number[]): Promise<Map<string, number>> {
    const wakes = new Map<string, number>();
    for (let at = 0; at < times.length; at += GROUP) {
      const group = times.slice(at, at + GROUP).map((dueAt) => ({ dueAt, id: ids.next(Date.now()) as string as RunId }));
      const leased = await this.#begin(group.map(({ id }) => id));
      await Promise.all(group.map(({ dueAt }, i) => this.#putToSleep(leased[i] as ClaimedEntry, dueAt)));
      for (const { id, dueAt } of group) wakes.set(id, dueAt);
    }
    return wakes;
  }

  async #begin(runIds: readonly RunId[]) {
    const now = Date.now();
    const runs = runIds.map((id) => ({ id, functionNo: this.#functionNo, lane: "app:1", dueAt: now, rank: now }));
    const event = { id: ids.next(now), name: "nap", ts: now, dedupId: null, data: "{}", extras: null };
    const source = { kind: "internal", id: "test" } as const;
    const batch = { environmentId: this.#environment.id, receivedAt: now, source, duplicateSince: 0, idsFromSender: false };
    const events = runs.map((run) => ({ ...event, id: ids.next(now), runs: [run] }));
    return (await this.#store.eventAppend({ ...batch, events, lease: this.#lease() })).leased;
  }

  #putToSleep(entry: ClaimedEntry, until: number) {
    const { environmentId, runNo } = entry;
    assert.ok(runNo);
    const now = Date.now();
    const step = {
      id: NAP,
      kind: "sleep",
      name: "nap",
      status: "sleeping",
      startedAt: now,
      endedAt: null,
      attempts: 1,
      until,
      detail: null,
    } as const;
    // In the lane of timers whatever its time: it wakes when the process takes it up.
    const change: RunChange = {
      status: "sleeping",
      startedAt: now,
      requestVersion: 1,
      steps: [step],
      entries: [{ kind: "wake", stepId: NAP, dueAt: until }],
    };
    return this.#store.runAdvance({ environmentId, runNo, entry, now, lease: this.#lease(), decide: () => change });
  }

  /** Calls are leased, timers are not. */
  #lease(): Lease {
    const newId = () => ids.next(Date.now()) as string as LeaseId;
    return { node: "filler", until: Date.now() + 60_000, newId, roomIn: (lane) => (lane === TIMER_LANE ? 0 : Number.POSITIVE_INFINITY) };
  }
}

async function countSleepers(store: Store) {
  const environment = (await store.environmentList()).find(({ name }) => name === "dev");
  assert.ok(environment);
  const asleep = new Set<RunId>();
  for (let after: RunId | null | undefined; after !== null; ) {
    const page: Awaited<ReturnType<Store["runList"]>> = await store.runList({
      environmentId: environment.id,
      limit: 1_000,
      status: "sleeping",
      ...(after && { after }),
    });
    for (const { id } of page.runs) asleep.add(id);
    after = page.next;
  }
  const nextDue = await store.queueNextDue();
  let entries = 0;
  const newId = () => ids.next(Date.now()) as string as LeaseId;
  const lease: Lease = { node: "counter", until: Date.now() + 9 * DAY_MS, newId, roomIn: () => Number.POSITIVE_INFINITY };
  for (let more = true; more; ) {
    const batch = await store.queueClaimMany({ lane: TIMER_LANE, limit: 5_000, now: Date.now() + 8 * DAY_MS, lease, limits: [] });
    entries += batch.claimed.filter(({ kind }) => kind === "wake").length;
    more = batch.more;
  }
  return { asleep: asleep.size, entries, nextDue };
}

/** Where the system does not tell, nothing is checked. */
function residentBytes({ child }: InletProcess): number {
  if (process.platform !== "linux") return 0;
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
  return Number(kib) * 1024;
}
