/**
 * A run survives every crash. The service, or the app, is killed with SIGKILL at random moments while runs of ten steps with
 * sends, sleeps and a wait are under way, in an app written with the published SDK. Afterwards every run has ended once, no
 * step whose result was kept has run again, a run repeated at most one step for each crash, and every event it sent is there
 * once and started its function once; and the figures of the overview agree with the lists.
 *
 * CRASH_ROUNDS=100 runs it for longer, with twice as many runs at a time; CRASH_SEED repeats the moments of a run that failed.
 */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test as nodeTest, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { type AppProcess, startApp } from "./support/app-process.ts";
import { test } from "./support/both-stores.ts";
import { freePort } from "./support/free-port.ts";
import { openPatientStore } from "./support/postgres.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { call, temporaryFolder } from "./support/service.ts";
import { type StoreFlags, storeFlags } from "./support/store-flags.ts";
import { RUN_STEPS, SENT_LABELS } from "./support/ten-steps.ts";

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 1);
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** At a time. */
const RUNS = ROUNDS > 1 ? 20 : 10;
/** How often in one round the process is killed, and how long it may live each time. */
const CRASHES = 2;
const LIFE_MS_MAX = 400;
const ROUND_MS_MAX = 400_000;
/** Between two looks at all runs and events, which take the service many times the work of a step. */
const LOOK_EVERY_MS = 200;

type Victim = "service" | "app";
type Sdk = "inngest" | "inlet";

const name = (victim: Victim, sdk: Sdk) =>
  `${ROUNDS} rounds of crashes of the ${victim}, SDK ${sdk}: every run ends once, nothing kept runs again`;

test(name("service", "inngest"), (t) => rounds(t, "inngest", "service"));
// The SDKs do not know the engine, and to the store a crash of the app is a call without a response: one engine stands for both.
nodeTest(name("service", "inlet"), (t) => rounds(t, "inlet", "service"));
nodeTest(name("app", "inlet"), (t) => rounds(t, "inlet", "app"));

async function rounds(t: TestContext, sdk: Sdk, victim: Victim): Promise<void> {
  t.diagnostic(`CRASH_SEED=${SEED}`);
  const random = randomFrom(SEED);
  const scene = await new Scene(t, sdk).start();
  for (let round = 0; round < ROUNDS; round++) {
    const runs = Array.from({ length: RUNS }, (_, i) => round * RUNS + i);
    await scene.begin(runs);
    const moments: string[] = [];
    for (let crash = 0; crash < CRASHES; crash++) {
      const lifeMs = random() * LIFE_MS_MAX;
      moments.push(lifeMs.toFixed(1));
      await scene.live(lifeMs);
      await scene.crash(victim);
    }
    const when = `${victim}, round ${round}, killed after ${moments.join(", ")} ms, CRASH_SEED=${SEED}`;
    await scene.finish(runs, when);
    await scene.check(runs, when);
  }
  assert.ok(scene.crossed > 0, "no crash hit a run: the test proves nothing");
}

/** The service and the app with their files, and what is known of them. */
class Scene {
  readonly #t: TestContext;
  readonly #sdk: Sdk;
  readonly #dataDir: string;
  readonly #file: string;
  #ports = { inlet: 0, app: 0 };
  #store!: StoreFlags;
  #inlet!: InletProcess;
  #app!: AppProcess;
  /** The number of the run each event begins. */
  readonly #numbers = new Map<string, number>();
  /** Steps whose results were in the store at a crash, and how many lines the app had written by then. */
  #kept: { line: number; steps: Set<string> }[] = [];
  /** How many runs were under way at crashes. */
  crossed = 0;

  constructor(t: TestContext, sdk: Sdk) {
    this.#t = t;
    this.#sdk = sdk;
    this.#dataDir = temporaryFolder(t);
    this.#file = join(temporaryFolder(t), "ran.txt");
  }

  async start(): Promise<this> {
    this.#ports = { inlet: await freePort(), app: await freePort() };
    this.#store = await storeFlags(this.#t, { dataDir: this.#dataDir });
    await this.#startInlet();
    await this.#startApp();
    const url = `http://127.0.0.1:${this.#ports.app}/api/inngest`;
    const { status, text } = await this.#rest("POST", "/v1/apps", { url });
    assert.equal(status, 201, text);
    return this;
  }

  async begin(runs: readonly number[]): Promise<void> {
    const events = runs.map((n) => ({ name: "crash/begin", id: `begin-${n}`, data: { n } }));
    const { status, body } = await call(`${this.#inlet.url}/e/test-event-key`, { method: "POST", body: JSON.stringify(events) });
    assert.equal(status, 200);
    runs.forEach((n, index) => {
      this.#numbers.set(body.ids[index], n);
    });
  }

  /** For that long, runs that wait are given what they wait for. */
  async live(lifeMs: number): Promise<void> {
    const until = Date.now() + lifeMs;
    while (Date.now() < until) {
      await this.#answerWaiting();
      await sleep(Math.min(20, Math.max(until - Date.now(), 0)));
    }
  }

  async crash(victim: Victim): Promise<void> {
    if (victim === "app") {
      await this.#app.end("SIGKILL");
      this.crossed += (await this.#unfinished("ten-steps")).length;
      this.#kept.push({ line: this.#lines().length, steps: await this.#stepsShown() });
      return this.#startApp();
    }
    await this.#inlet.end("SIGKILL");
    // What bodies under way still write belongs to the time before the crash.
    await sleep(20);
    const line = this.#lines().length;
    const steps = await this.#stepsKept();
    this.#kept.push({ line, steps });
    await this.#store.passLeases();
    await this.#startInlet();
  }

  async finish(runs: readonly number[], when: string): Promise<void> {
    const deadline = Date.now() + ROUND_MS_MAX;
    while ((await this.#unfinished("ten-steps")).length + (await this.#unfinished("tally")).length > 0 || !(await this.#allSent(runs))) {
      const [lost] = await this.#all("/v1/runs?status=failed");
      assert.ok(!lost, `a run failed (${when}): ${lost && (await this.#rest("GET", `/v1/runs/${lost.id}`)).text}`);
      assert.ok(Date.now() < deadline, `runs have not ended: ${JSON.stringify(await this.#unfinished("ten-steps"))} (${when})`);
      await this.#answerWaiting();
      await sleep(LOOK_EVERY_MS);
    }
  }

  async check(runs: readonly number[], when: string): Promise<void> {
    const lines = this.#lines();
    for (const { line, steps } of this.#kept) {
      const again = lines.slice(line).filter((text) => steps.has(text));
      assert.deepEqual(again, [], `steps ran again whose results were kept (${when})`);
    }
    const counts = new Map<string, number>();
    for (const text of lines) counts.set(text, (counts.get(text) ?? 0) + 1);
    for (const n of runs) {
      const ran = RUN_STEPS.map((step) => counts.get(`${n} ${step}`) ?? 0);
      assert.ok(
        ran.every((count) => count >= 1),
        `run ${n} left steps out: ${ran} (${when})`,
      );
      assert.ok(sum(ran) <= RUN_STEPS.length + CRASHES, `run ${n} repeated more than a step for each crash: ${ran} (${when})`);
      for (const label of SENT_LABELS) {
        const count = counts.get(`${n} count-${label}`) ?? 0;
        assert.ok(count >= 1 && count <= 1 + CRASHES, `the run for event ${label} of ${n} ran its step ${count} times (${when})`);
      }
    }
    await this.#checkRuns(runs, when);
    await this.#checkFigures(when);
  }

  /** The overview counts each event and run once, whatever was not yet counted at a crash. */
  async #checkFigures(when: string): Promise<void> {
    const there = [await this.#all("/v1/events?internal=false"), ...Array(2).fill(await this.#all("/v1/runs?"))].map(
      ({ length }) => length,
    );
    const counted = async () => {
      const points: Record<string, number>[] = (await this.#rest("GET", "/v1/stats?interval=day")).body.data.points;
      return ["accepted", "runsStarted", "runsCompleted"].map((figure) => sum(points.map((point) => point[figure] ?? 0)));
    };
    const deadline = Date.now() + ROUND_MS_MAX;
    // Events are counted shortly after they are stored.
    while (String(await counted()) !== String(there) && Date.now() < deadline) await sleep(LOOK_EVERY_MS);
    assert.deepEqual(await counted(), there, `the overview agrees with the lists (${when})`);
  }

  async #checkRuns(runs: readonly number[], when: string): Promise<void> {
    const started = await this.#all("/v1/runs?function=crash-ten-steps");
    const ended = started.filter(({ status }) => status === "completed");
    assert.equal(
      ended.length,
      started.length,
      `every run completed (${when}): ${JSON.stringify(started.find(({ status }) => status !== "completed"))}`,
    );
    const sent = (await this.#all("/v1/events?name=crash/sent")).map(({ data }) => `${data.n} ${data.label}`);
    assert.equal(new Set(sent).size, sent.length, `an event was sent twice (${when})`);
    for (const n of runs)
      for (const label of SENT_LABELS) assert.ok(sent.includes(`${n} ${label}`), `event ${label} of ${n} is missing (${when})`);
    const begun = await this.#all("/v1/events?name=crash/begin");
    assert.equal(started.length, begun.length, `one run for each event (${when})`);
    assert.equal((await this.#all("/v1/runs?function=crash-tally")).length, sent.length, `one run for each event sent (${when})`);
  }

  async #allSent(runs: readonly number[]): Promise<boolean> {
    const sent = await this.#all("/v1/events?name=crash/sent");
    return sent.length >= (Math.max(...runs) + 1) * SENT_LABELS.length;
  }

  async #answerWaiting(): Promise<void> {
    const waiting = await this.#all("/v1/runs?status=waiting");
    const answers = waiting.map(({ event }) => ({ name: "crash/answer", data: { n: this.#numbers.get(event.id) } }));
    if (answers.length > 0) await call(`${this.#inlet.url}/e/test-event-key`, { method: "POST", body: JSON.stringify(answers) });
  }

  async #unfinished(name: string): Promise<unknown[]> {
    const runs = await this.#all(`/v1/runs?function=crash-${name}`);
    return runs.filter(({ status }) => !["completed", "failed", "cancelled"].includes(status));
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  async #all(path: string): Promise<any[]> {
    const found = [];
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await this.#rest("GET", `${path}&limit=100${cursor && `&cursor=${cursor}`}`);
      found.push(...body.data);
      cursor = body.page.next;
    }
    return found;
  }

  #rest(method: string, path: string, body?: unknown) {
    const headers = { ...(body !== undefined && { "content-type": "application/json" }) };
    return call(`${this.#inlet.url}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  }

  /** What the service shows as kept, as `<n> <step>`. */
  async #stepsShown(): Promise<Set<string>> {
    const shown = new Set<string>();
    for (const { id, event } of await this.#all("/v1/runs?function=crash-ten-steps")) {
      const { steps } = (await this.#rest("GET", `/v1/runs/${id}`)).body.data;
      for (const { name, status } of steps) if (status === "completed") shown.add(`${this.#numbers.get(event.id)} ${name}`);
    }
    return shown;
  }

  /** What the dead service has kept, as `<n> <step>`. */
  async #stepsKept(): Promise<Set<string>> {
    const { databaseUrl: url } = this.#store;
    const hooks = { onFault: () => undefined, onRecovery: () => undefined };
    const store = url === undefined ? openSqliteStore({ folder: this.#dataDir, ...hooks }) : await openPatientStore({ url, ...hooks });
    try {
      const kept = new Set<string>();
      const environmentId = (await store.environmentList()).find(({ name }) => name === "dev")?.id;
      assert.ok(environmentId);
      const { runs } = await store.runList({ environmentId, limit: RUNS * 4 });
      for (const { id } of runs) {
        const run = await store.runGet({ environmentId, id });
        const event = run && (await store.eventAt({ environmentId, sequence: run.eventSequence }));
        assert.ok(run && event);
        const { n, label } = JSON.parse(event.data);
        for (const { name, status } of run.steps)
          if (status === "completed") kept.add(`${n} ${name === "count" ? `count-${label}` : name}`);
        if (run.endedAt === null && event.name === "crash/begin") this.crossed++;
      }
      return kept;
    } finally {
      await store.stop();
    }
  }

  #lines(): string[] {
    try {
      return readFileSync(this.#file, "utf8")
        .split("\n")
        .filter((line) => line !== "");
    } catch {
      return [];
    }
  }

  async #startInlet(): Promise<void> {
    // A call has at most twenty retries, which have to last until a killed app listens again.
    const flags = ["--port", String(this.#ports.inlet), "--retry-interval", "2s", "--log-level", "warn", ...this.#store.flags];
    this.#inlet = await startInlet(this.#t, ["dev", ...flags]);
  }

  async #startApp(): Promise<void> {
    const argv = [this.#sdk, String(this.#ports.app), `http://127.0.0.1:${this.#ports.inlet}`, this.#file];
    this.#app = await startApp(this.#t, "ten-steps-app.ts", argv);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** A small generator of numbers in [0, 1) that a seed repeats. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
