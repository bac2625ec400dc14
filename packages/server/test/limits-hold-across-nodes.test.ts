/**
 * A limit counts for the whole cluster. Two real processes share one PostgreSQL, both are sent events of the same function, and one of
 * them is stopped in the middle: there are never more runs, or steps, at a time than the function says, and all of them come to their end.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type AnyFunction, poll, startApp } from "./support/app.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const EVENTS = 10;
/** After so many runs one node is stopped. */
const RUNS_WITH_BOTH = 3;

type MakeFunctions = Parameters<typeof startApp>[2];

/** How many are inside at a time. */
class Turnstile {
  most = 0;
  #inside = 0;

  enter(): void {
    this.most = Math.max(this.most, ++this.#inside);
  }

  leave(): void {
    this.#inside--;
  }
}

interface Nodes {
  first: InletProcess;
  second: InletProcess;
}

async function startNodes(t: TestContext, make: MakeFunctions): Promise<Nodes> {
  const databaseUrl = await freshDatabase(t);
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  const argv = ["start", "--port", "0", "--host", "127.0.0.1", "--log-level", "warn", ...keys];
  const start = () => startInlet(t, argv, { SERVICE_DATABASE_URL: databaseUrl });
  const [first, second] = await Promise.all([start(), start()]);
  await startApp(t, restOf(first), make);
  for (const node of [first, second]) {
    await poll(async () => ((await restOf(node).rest("GET", "/functions")).body.data.length > 0 ? true : null), "the function");
  }
  return { first, second };
}

function restOf({ url }: InletProcess): TestService {
  const rest = (method: string, path: string, { body }: { body?: unknown } = {}) =>
    call(`${url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  return { url, rest } as TestService;
}

/** To the one and the other in turn, all at once. */
async function sendToBoth({ first, second }: Nodes): Promise<void> {
  const sent = await Promise.all(
    Array.from({ length: EVENTS }, (_, n) => {
      const body = JSON.stringify({ name: "shop/go", data: { n } });
      return call(`${(n % 2 === 0 ? first : second).url}/e/${EVENT_KEY}`, { method: "POST", body });
    }),
  );
  assert.deepEqual(
    sent.map(({ status }) => status),
    sent.map(() => 200),
  );
}

async function completedRuns(node: InletProcess): Promise<number> {
  return (await restOf(node).rest("GET", `/runs?status=completed&limit=${EVENTS}`)).body.data.length;
}

/** Works with both nodes, then with one, until every run is through. */
async function workThrough(nodes: Nodes): Promise<void> {
  await sendToBoth(nodes);
  await poll(async () => ((await completedRuns(nodes.first)) >= RUNS_WITH_BOTH ? true : null), "the first runs");
  assert.equal(await nodes.first.end("SIGTERM"), 0);
  await poll(async () => ((await completedRuns(nodes.second)) === EVENTS ? true : null), "every run", 60_000);
}

test("so many runs of a function at a time as it says, on all nodes together, also while they sleep", { skip }, async (t) => {
  const runs = new Turnstile();
  const make: MakeFunctions = (inlet): AnyFunction[] => [
    inlet.createFunction({ id: "one", concurrency: { fn: [{ limit: 1 }] } }, { event: "shop/go" }, async ({ step }) => {
      await step.run("enter", () => runs.enter());
      await step.sleep("nap", "100ms");
      await step.run("leave", () => runs.leave());
    }),
  ];
  await workThrough(await startNodes(t, make));
  assert.equal(runs.most, 1);
});

test("so many steps of a function at a time as it says, on all nodes together", { skip }, async (t) => {
  const steps = new Turnstile();
  const work = async () => {
    steps.enter();
    await new Promise((resolve) => setTimeout(resolve, 20));
    steps.leave();
  };
  const make: MakeFunctions = (inlet): AnyFunction[] => [
    inlet.createFunction({ id: "two", concurrency: { limit: 2 } }, { event: "shop/go" }, async ({ step }) => {
      await Promise.all([step.run("a", work), step.run("b", work), step.run("c", work)]);
    }),
  ];
  await workThrough(await startNodes(t, make));
  assert.equal(steps.most, 2);
});
