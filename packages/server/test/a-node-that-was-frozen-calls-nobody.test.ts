/**
 * A node that lost its leases works on nothing it holds in memory. Of two real processes on one PostgreSQL, one is frozen (SIGSTOP)
 * until its leases have expired, with calls under way and many more entries leased; the other takes these up. When the first goes on, it
 * calls no app for them: the concurrency limit holds, and only the calls that were under way when it froze are repeated.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { poll, startApp } from "./support/app.ts";
import { everyNodeKnows, type Node, startNode } from "./support/nodes.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";

const skip = whyNoPostgres() ?? false;
const EVENTS = 60;
const LIMIT = 3;
const BODY_MS = 200;
/** So many runs have ended when the frozen node goes on: the other node works on what that one had leased. */
const ENDED_MEANWHILE = 15;

test("a node that was frozen for longer than a lease calls nobody for what others hold by now", { skip }, async (t) => {
  const store = ["--database-url", await migratedDatabase(t)];
  const [frozen, other] = [await startNode(t, store), await startNode(t, store)];
  const bodies = new Map<number, number>();
  let inside = 0;
  let most = 0;
  await startApp(t, frozen, (inlet) => [
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
  await everyNodeKnows([frozen, other], 1);

  const events = Array.from({ length: EVENTS }, (_, n) => ({ name: "shop/go", data: { n } }));
  assert.equal((await frozen.send(events)).status, 200);
  await poll(async () => (bodies.size >= LIMIT ? true : null), "the first calls");
  frozen.child.kill("SIGSTOP");
  t.after(() => frozen.child.kill("SIGCONT"));
  await poll(async () => ((await completedRuns(other)) >= ENDED_MEANWHILE ? true : null), "the other node to take over");
  frozen.child.kill("SIGCONT");
  await poll(async () => ((await completedRuns(other)) === EVENTS ? true : null), "every run");

  assert.ok(most <= LIMIT, `${most} bodies ran at once, the limit is ${LIMIT}`);
  const repeated = [...bodies.values()].filter((count) => count > 1).length;
  assert.ok(repeated <= LIMIT, `${repeated} bodies ran more than once, though only ${LIMIT} calls were under way`);
});

async function completedRuns(node: Node): Promise<number> {
  let count = 0;
  for (let cursor: string | null = ""; cursor !== null; ) {
    const { body } = await node.rest("GET", `/runs?status=completed&limit=100${cursor && `&cursor=${cursor}`}`);
    count += body.data.length;
    cursor = body.page.next;
  }
  return count;
}
