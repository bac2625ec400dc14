/**
 * A drill goes on after SIGKILL, with no event made twice and every request judged as if nothing had happened: on the embedded store after
 * a restart, on PostgreSQL on another node. It is killed while requests are sent, and while it waits for the functions.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { JobDetailsView } from "@inlet/protocol";
import { readProviderTransform } from "@inlet/providers";
import { startApp } from "./support/app.ts";
import { type Node, startNode } from "./support/nodes.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { until } from "./support/runs.ts";
import { temporaryFolder } from "./support/service.ts";

const BRANCH = "feature/cart";
const headers = { "x-service-env": BRANCH };
/** One request at a time, so that it is killed in the middle. */
const SLOWLY = ["--job-rate", "3"];
const FUNCTION = "shop-charge";

test("sqlite: a drill that was killed while it sent, and while it waited, goes on after each restart", async (t) => {
  const place = ["--data-dir", temporaryFolder(t), ...SLOWLY];
  let node = await startNode(t, place);
  const id = await beginDrill(t, node);
  await reached(node, id, ({ done }) => done >= 3);
  await node.end("SIGKILL");
  node = await startNode(t, place);
  await reached(node, id, ({ done, total }) => done === total);
  await node.end("SIGKILL");
  node = await startNode(t, place);
  await checkEnd(node, id);
});

test("postgres: another node goes on with a drill whose node was killed", { skip: whyNoPostgres() ?? false }, async (t) => {
  const place = ["--database-url", await migratedDatabase(t), ...SLOWLY];
  const one = await startNode(t, place);
  const id = await beginDrill(t, one);
  await reached(one, id, ({ done }) => done >= 3);
  await one.end("SIGKILL");
  await checkEnd(await startNode(t, place), id);
});

/** Its function is paused: the drill cannot end before somebody resumes it. */
async function beginDrill(t: TestContext, node: Node): Promise<string> {
  await node.rest("POST", "/environments", { body: { name: BRANCH, kind: "branch" } });
  const functions = { environment: BRANCH };
  await startApp(t, node, (inlet) => [inlet.createFunction({ id: "charge" }, { event: "stripe/*" }, () => "charged")], functions);
  assert.equal((await node.rest("POST", `/functions/${FUNCTION}/pause`, { headers })).status, 200);
  const verify = { scheme: "stripe", secrets: ["whsec_c2FtcGxlIHNlY3JldA=="] };
  const body = { name: "Stripe", environment: "branch", transform: await readProviderTransform("stripe"), verify };
  const webhook = (await node.rest("POST", "/webhooks", { body })).body.data;
  const begun = await node.rest("POST", `/webhooks/${webhook.id}/drill`, { body: { environment: BRANCH } });
  assert.equal(begun.status, 202, begun.text);
  return begun.body.data.id;
}

async function read(node: Node, id: string): Promise<JobDetailsView> {
  return (await node.rest("GET", `/jobs/${id}`, { headers })).body.data;
}

function reached(node: Node, id: string, isThere: (job: JobDetailsView) => boolean): Promise<JobDetailsView> {
  return until("this point of the drill", async () => {
    const job = await read(node, id);
    return isThere(job) ? job : undefined;
  });
}

async function checkEnd(node: Node, id: string): Promise<void> {
  const sent = await reached(node, id, ({ done, total }) => done === total);
  assert.equal(sent.endedAt, null, "it waits for the functions");
  assert.equal((await node.rest("POST", `/functions/${FUNCTION}/resume`, { headers, body: {} })).status, 200);
  const { status, total, errors, report } = await reached(node, id, ({ endedAt }) => endedAt !== null);
  assert.deepEqual([status, errors, report?.length, report?.filter(({ ok }) => !ok)], ["completed", [], total, []]);
  const accepted = report?.filter(({ happened }) => happened.status === 200) ?? [];
  for (const { functions } of accepted) assert.deepEqual(functions, [{ id: FUNCTION, runs: 1, failed: false }]);
  const events = (await node.rest("GET", "/events?name=stripe/*", { headers })).body.data;
  assert.equal(events.length, report?.filter(({ kind }) => kind === "samples").length);
}
