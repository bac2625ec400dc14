/**
 * A node that lost its leases works on nothing it holds in memory. Of two real processes on one PostgreSQL, one is frozen (SIGSTOP) for
 * longer than a lease lasts, with calls under way and many more entries leased; the other takes these up. When the first goes on, it
 * calls no app for them: the concurrency limit holds, and only the calls that were under way when it froze are repeated.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { poll, startApp } from "./support/app.ts";
import { freshDatabase, whyNoPostgres } from "./support/postgres.ts";
import { type InletProcess, startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, SIGNING_KEY, type TestService } from "./support/service.ts";

const skip = whyNoPostgres() ?? false;
const EVENTS = 200;
const LIMIT = 3;
const BODY_MS = 200;
/** A lease lasts 30 s. */
const FROZEN_MS = 40_000;

test("a node that was frozen for 40 s calls nobody for what others hold by now", { skip }, async (t) => {
  const databaseUrl = await freshDatabase(t);
  const [frozen, other] = [await startNode(t, databaseUrl), await startNode(t, databaseUrl)];
  const bodies = new Map<number, number>();
  let inside = 0;
  let most = 0;
  await startApp(t, restOf(frozen), (inlet) => [
    inlet.createFunction({ id: "work", concurrency: { limit: LIMIT } }, { event: "shop/go" }, async ({ event, step }) => {
      await step.run("body", async () => {
        const n = event.data.n as number;
        bodies.set(n, (bodies.get(n) ?? 0) + 1);
        most = Math.max(most, ++inside);
        await sleep(BODY_MS);
        inside--;
      });
    }),
  ]);
  await poll(async () => ((await restOf(other).rest("GET", "/functions")).body.data.length > 0 ? true : null), "the function");

  const events = Array.from({ length: EVENTS }, (_, n) => ({ name: "shop/go", data: { n } }));
  const sent = await call(`${frozen.url}/e/${EVENT_KEY}`, { method: "POST", body: JSON.stringify(events) });
  assert.equal(sent.status, 200);
  await poll(async () => (bodies.size >= LIMIT ? true : null), "the first calls");
  frozen.child.kill("SIGSTOP");
  t.after(() => frozen.child.kill("SIGCONT"));
  await sleep(FROZEN_MS);
  frozen.child.kill("SIGCONT");
  await poll(async () => ((await completedRuns(other)) === EVENTS ? true : null), "every run", 90_000);

  assert.ok(most <= LIMIT, `${most} bodies ran at once, the limit is ${LIMIT}`);
  const repeated = [...bodies.values()].filter((count) => count > 1).length;
  assert.ok(repeated <= LIMIT, `${repeated} bodies ran more than once, though only ${LIMIT} calls were under way`);
});

function startNode(t: TestContext, databaseUrl: string): Promise<InletProcess> {
  const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY, "--signing-key", SIGNING_KEY];
  return startInlet(t, ["start", "--port", "0", "--host", "127.0.0.1", "--log-level", "warn", ...keys], {
    SERVICE_DATABASE_URL: databaseUrl,
  });
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

async function completedRuns(node: InletProcess): Promise<number> {
  let count = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await restOf(node).rest("GET", `/runs?status=completed&limit=100${cursor && `&cursor=${cursor}`}`);
    count += body.data.length;
    cursor = body.page.next;
  }
  return count;
}
