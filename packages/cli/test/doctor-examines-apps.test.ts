/** `inlet doctor --app`: what of an app with Inngest's SDK would behave differently on Inlet. */

import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { loadUntyped, SILENT_LOGGER } from "../../server/test/support/apps/published-sdk.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { workingFolder } from "./support/working-folder.ts";

const { Inngest } = await loadUntyped("inngest");
const { serve } = await loadUntyped("inngest/node");

const SIGNING_KEY = `signkey-prod-${"0b".repeat(32)}`;

interface Found {
  check: string;
  status: string;
  message: string;
  advice?: string;
}

async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inngest`;
}

/** Nothing listens there any more. */
async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}/api/inngest`;
}

function shop(t: TestContext, options: object): Promise<string> {
  const client = new Inngest({ id: "shop", logger: SILENT_LOGGER, ...options });
  const ship = client.createFunction(
    {
      id: "ship",
      retries: 2,
      concurrency: { limit: 5, scope: "account", key: '"all"' },
      triggers: [{ event: "shop/order", if: "event.data.n > 1" }],
    },
    () => 1,
  );
  const nightly = client.createFunction({ id: "nightly", triggers: [{ cron: "0 3 * * *" }] }, () => 1);
  const broken = client.createFunction({ id: "broken", triggers: [{ event: "shop/order", if: "event.data.(" }] }, () => 1);
  return listen(t, serve({ client, functions: [ship, nightly, broken] }));
}

async function examine(t: TestContext, url: string, signingKey?: string): Promise<{ code: number | null; checks: Found[]; text: string }> {
  const place = workingFolder(t, {});
  const argv = ["doctor", "--app", url, ...(signingKey ? ["--signing-key", signingKey] : [])];
  const { code, stdout, stderr } = await place.inlet([...argv, "--json"]);
  assert.notEqual(stdout, "", stderr);
  return { code, checks: JSON.parse(stdout).checks, text: (await place.inlet(argv)).stdout };
}

test("functions, their settings and what would differ are listed; secrets are not", async (t) => {
  const { code, checks, text } = await examine(t, await shop(t, { signingKey: SIGNING_KEY, isDev: false }), SIGNING_KEY);
  assert.equal(code, 1, "one function would be refused");
  const of = (check: string) => checks.filter((one) => one.check === check);
  assert.match(of("app")[0]?.message ?? "", /is served by inngest-js:v4/);
  assert.equal(of("signing key")[0]?.status, "ok");
  const [ship, differs] = of("function shop-ship");
  assert.match(ship?.message ?? "", /^event shop\/order if event\.data\.n > 1; retries 2, concurrency 5 steps per account by "all"/);
  assert.deepEqual([differs?.status, differs?.message.includes("all environments")], ["warning", true]);
  assert.match(of("function shop-nightly")[0]?.message ?? "", /^cron 0 3 \* \* \*; retries 4/);
  assert.deepEqual(
    of("function shop-broken").map(({ status }) => status),
    ["problem"],
  );
  assert.match(text, /^note {5}events: an event whose id was seen/m);
  assert.match(text, /1 problem, 1 warning\.$/m);
  assert.ok(!text.includes(SIGNING_KEY));
});

test("an app in dev mode needs no key", async (t) => {
  const { checks } = await examine(t, await shop(t, { isDev: true }));
  assert.equal(checks.find(({ check }) => check === "mode")?.status, "warning");
  assert.ok(checks.some(({ check }) => check === "function shop-ship"));
});

test("an app with another key, no app, and no SDK each get a sentence of their own", async (t) => {
  const wrong = await examine(t, await shop(t, { signingKey: SIGNING_KEY, isDev: false }), `signkey-prod-${"0c".repeat(32)}`);
  assert.match(wrong.text, /signing key: the app refuses the signature/);
  const none = await examine(t, await shop(t, { signingKey: SIGNING_KEY, isDev: false }));
  assert.match(none.text, /signing key: /);
  const gone = await examine(t, await closedAddress());
  assert.match(gone.text, /cannot be reached: connection refused/);
  const page = await examine(t, await listen(t, (_, response) => response.end("<html>")));
  assert.match(page.text, /answers with status 200, but is not the endpoint of an SDK/);
  assert.deepEqual([wrong.code, gone.code, page.code], [1, 1, 1]);
  const bad = await workingFolder(t, {}).inlet(["doctor", "--app", "localhost"]);
  assert.equal(bad.code, 2);
});
