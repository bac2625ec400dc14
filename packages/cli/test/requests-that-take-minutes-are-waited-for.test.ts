/** The service may take minutes to count what matches, to read the pages of a provider or to prepare a database. The command waits for it. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { onEnd } from "../../server/test/support/on-end.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { createRestClient } from "../src/rest/rest-client.ts";
import { runHere } from "./support/run-here.ts";
import { timeLimits } from "./support/time-limits.ts";

/** How long a usual request may take. */
const USUAL_MS = 30_000;

const JOB = { id: "job", kind: "runs.rerun", status: "completed", total: 2, done: 2, failed: 0, errors: [], filter: {}, function: null };
const RESPONSES: Readonly<Record<string, object>> = {
  "GET /v1/webhooks": { data: [{ id: "wh_1", name: "Stripe" }], page: { next: null } },
  "POST /v1/webhooks/wh_1/reconcile": { data: { listed: 2, seen: 1, recovered: 1, failed: 0 } },
  "POST /v1/jobs": { data: { ...JOB, samples: [], createdAt: "2026-01-31T12:00:00.000Z", endedAt: "2026-01-31T12:00:01.000Z" } },
  "GET /v1/jobs/job": { data: { ...JOB, createdAt: "2026-01-31T12:00:00.000Z", endedAt: "2026-01-31T12:00:01.000Z" } },
  "POST /v1/databases": { data: { name: "eu", environments: [], reachable: true, bytes: null } },
};

for (const argv of [
  ["webhooks", "reconcile", "Stripe", "--since", "1d", "--dry-run"],
  ["runs", "rerun", "--function", "shop-ship", "--dry-run"],
  ["runs", "rerun", "--function", "shop-ship", "--yes"],
  ["databases", "add", "eu", "postgres://127.0.0.1/eu"],
]) {
  test(`inlet ${argv.join(" ")}`, async (t) => {
    const limits = timeLimits(t);
    let isSlow = true;
    const url = await answering(t, (method) => {
      if (method === "GET" || !isSlow) return;
      limits.pass(USUAL_MS * 2);
      // A job that is started after its preview does not take long.
      isSlow = false;
    });
    const { code, stderr } = await runHere(temporaryFolder(t), argv, { INLET_BASE_URL: url, INLET_API_KEY: "ak_test" });
    assert.deepEqual([code, stderr], [0, ""]);
  });
}

test("a service that takes too long is said to be slow, not to be away", async (t) => {
  const limits = timeLimits(t);
  const url = await answering(t, () => limits.pass(USUAL_MS));
  const { code, stderr } = await runHere(temporaryFolder(t), ["databases", "list"], { INLET_BASE_URL: url });
  assert.deepEqual([code, stderr], [3, `error: The service at ${url} gave no response within 30 s. Retry later.\n`]);
  const patient = createRestClient({ url, apiKey: null, env: null }).call({ path: "/databases", timeoutMs: 20_000 });
  await assert.rejects(patient, /gave no response within 20 s/);
});

async function answering(t: TestContext, onRequest: (method: string) => void): Promise<string> {
  const server = createServer(({ method = "", url = "" }, response) => {
    onRequest(method);
    response.end(JSON.stringify(RESPONSES[`${method} ${url.split("?")[0]}`] ?? null));
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
