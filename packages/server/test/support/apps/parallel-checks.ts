/**
 * The commonest pattern there is, under load: twenty steps at once, many runs in flight, not one retry to spare. Every run completes,
 * whichever SDK runs it, and every step body runs once.
 *
 * Fifty runs are in flight with our SDK on the embedded store. With a published SDK, whose runs take twice the calls, and on PostgreSQL
 * twenty do, and a few do on a dev server, which differs in signatures only. INLET_TEST_ROUNDS repeats it more often, with fifty runs
 * everywhere.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { migratedDatabase, whyNoPostgres } from "../postgres.ts";
import { isEnded, runDetails, type ShownRun } from "../runs.ts";
import { EVENT_KEY, startTestService, type TestService } from "../service.ts";
import { serveApp, syncApp } from "./app-server.ts";
import type { PublishedSdk } from "./published-sdk.ts";
import { BARE_SIGNING_KEY } from "./sdk-checks.ts";

const STEPS = 20;
const ROUNDS = Number(process.env.INLET_TEST_ROUNDS ?? 1);
const RUNS = 50;
const FEWER_RUNS = 20;
const FEW_RUNS = 4;
/** A published SDK needs forty calls for such a run. */
const DEADLINE_MS = 400_000;

type Step = { run(id: string, body: () => number): Promise<number> };

/** Runs the steps, and then one more, whose attempt tells whether one was lost before. */
async function handler(bodies: Map<string, number>, run: string, step: Step, attempt: number) {
  const work = (name: string, value: number) => {
    const key = `${run} ${name}`;
    bodies.set(key, (bodies.get(key) ?? 0) + 1);
    return value;
  };
  const parts = await Promise.all(Array.from({ length: STEPS }, (_, n) => step.run(`part ${n}`, () => work(`part ${n}`, n))));
  const attemptAfter = await step.run("after", () => work("after", attempt));
  return { sum: parts.reduce((sum, part) => sum + part, 0), attemptAfter };
}

interface Setting {
  sdk: "own" | PublishedSdk;
  mode: "dev" | "start";
  store: "sqlite" | "postgres";
}

async function startPublished(t: TestContext, service: TestService, sdk: PublishedSdk, mode: Setting["mode"], bodies: Map<string, number>) {
  const signed = mode === "start" ? { signingKey: BARE_SIGNING_KEY } : {};
  const client = sdk.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: mode === "dev", ...signed });
  const fan = client.createFunction({ id: "fan", retries: 0 }, [{ event: "app/fan" }], ({ event, step, attempt }) =>
    handler(bodies, event.data.key, step, attempt),
  );
  return serveApp(t, sdk.listener(client, [fan], signed.signingKey));
}

async function startOwn(t: TestContext, service: TestService, mode: Setting["mode"], bodies: Map<string, number>) {
  const signed = mode === "start" ? { signingKey: BARE_SIGNING_KEY } : {};
  const client = new Inlet({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: mode === "dev", ...signed });
  const fan = client.createFunction({ id: "fan", retries: 0 }, { event: "app/fan" }, ({ event, step, attempt }) =>
    handler(bodies, (event.data as { key: string }).key, step, attempt),
  );
  return serveApp(t, serve({ client, functions: [fan] }));
}

/** The newest runs, once there are so many and none goes on. */
async function allEnded(service: TestService, runs: number): Promise<ShownRun[]> {
  for (const deadline = Date.now() + DEADLINE_MS; ; ) {
    const { body } = await service.rest("GET", "/runs?limit=100&function=app-fan");
    const newest = (body.data as ShownRun[]).slice(0, runs);
    if (newest.length === runs && newest.every(isEnded)) return Promise.all(newest.map(({ id }) => runDetails(service, id)));
    if (Date.now() > deadline) throw new Error(`runs that did not end: ${JSON.stringify(newest.filter((run) => !isEnded(run)))}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function runsInFlight({ sdk, mode, store }: Setting): number {
  if (ROUNDS > 1) return RUNS;
  if (mode === "dev") return FEW_RUNS;
  return sdk === "own" && store === "sqlite" ? RUNS : FEWER_RUNS;
}

function check({ sdk, mode, store }: Setting): void {
  const name = sdk === "own" ? "our SDK" : `SDK ${sdk.name}`;
  const skip = store === "postgres" ? whyNoPostgres() : null;
  test(`${name}, ${mode}, ${store}`, { skip: skip ?? false }, async (t) => {
    const databaseUrl = store === "postgres" ? { databaseUrl: await migratedDatabase(t) } : {};
    const service = await startTestService(t, { mode, flags: ["--signing-key", BARE_SIGNING_KEY], ...databaseUrl });
    const bodies = new Map<string, number>();
    const app = sdk === "own" ? await startOwn(t, service, mode, bodies) : await startPublished(t, service, sdk, mode, bodies);
    await syncApp(service, app.url);
    const count = runsInFlight({ sdk, mode, store });
    for (let round = 0; round < ROUNDS; round++) {
      bodies.clear();
      const events = Array.from({ length: count }, (_, n) => ({ name: "app/fan", data: { key: `run ${n}` } }));
      await service.send(events);
      const runs = await allEnded(service, count);
      const expected = { status: "completed", output: { sum: (STEPS * (STEPS - 1)) / 2, attemptAfter: 0 } };
      for (const run of runs) assert.deepEqual({ status: run.status, output: run.output }, expected, JSON.stringify(run.error));
      assert.equal(bodies.size, count * (STEPS + 1));
      assert.deepEqual([...new Set(bodies.values())], [1], "a body ran twice");
    }
  });
}

export function checkParallelSteps(sdk: Setting["sdk"]): void {
  for (const store of ["sqlite", "postgres"] as const) for (const mode of ["dev", "start"] as const) check({ sdk, mode, store });
}
