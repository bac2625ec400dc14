/** The apps in examples/, started as their READMEs say, registered and driven over HTTP. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";
import { type TestContext, test as testOnce } from "node:test";
import { test } from "../../server/test/support/both-stores.ts";
import { startTestService, type TestService } from "../../server/test/support/service.ts";
import { driveRun } from "./drive-run.ts";
import { type RecordingService, startRecordingService } from "./recording-service.ts";

const EXAMPLES = new URL("../../../examples/", import.meta.url);

/** Starts an example with its own command, on a free port. The URL is that of its endpoint. */
async function start(t: TestContext, name: string, serviceUrl: string, settings: Record<string, string> = {}): Promise<string> {
  const folder = new URL(`${name}/`, EXAMPLES);
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as { scripts: { start: string } };
  const [node, ...args] = scripts.start.split(" ");
  assert.equal(node, "node");
  const env = { ...process.env, PORT: "0", INLET_BASE_URL: serviceUrl, ...settings };
  const app = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => app.kill());
  for await (const line of createInterface(app.stdout)) {
    const origin = /^listening on (http:\S+)$/.exec(line)?.[1];
    if (!origin) continue;
    app.stdout.resume();
    return `${origin}/api/inlet`;
  }
  return assert.fail(`${name} ended before it was listening`);
}

/** The example with a recording service, its functions registered. */
async function startAlone(t: TestContext, name: string): Promise<{ url: string; service: RecordingService; functions: string[] }> {
  const service = await startRecordingService(t);
  const url = await start(t, name, service.url);
  assert.equal((await fetch(url, { method: "PUT" })).status, 200);
  const { functions } = JSON.parse(service.requests[0]?.body ?? "") as { functions: { id: string }[] };
  return { url, service, functions: functions.map(({ id }) => id) };
}

testOnce("node-shop: an order is sent, shipped, invoiced and announced", async (t) => {
  const { url, service, functions } = await startAlone(t, "node-shop");
  assert.deepEqual(functions, ["node-shop-ship", "node-shop-ship-failure", "node-shop-invoice", "node-shop-notify"]);
  const order = { orderId: "4711", items: ["a", "b", "c", "d"] };
  const sent = await fetch(new URL("/orders", url), { method: "POST", body: JSON.stringify(order) });
  assert.equal(((await sent.json()) as { eventId: string }).eventId, [...service.events.keys()][0]);
  const event = { name: "shop/order.created", data: order };
  assert.deepEqual((await driveRun({ url, functionId: "node-shop-invoice", event })).output, { number: "INV-4711" });
  assert.deepEqual((await driveRun({ url, functionId: "node-shop-ship", event })).output, { tracking: "T-4711" });
  const shipped = [...service.events.values()].find(({ name }) => name === "shop/order.shipped");
  assert.deepEqual(shipped?.data, { orderId: "4711", tracking: "T-4711", boxes: 2 });
  assert.equal(
    (await driveRun({ url, functionId: "node-shop-notify", event: { name: "shop/order.shipped", data: shipped?.data } })).status,
    "completed",
  );
  const bad = await driveRun({ url, functionId: "node-shop-ship", event: { name: "shop/order.created", data: {} }, maxAttempts: 4 });
  assert.deepEqual([bad.status, bad.calls.length], ["failed", 1]);
});

test("express-webhook-signature: what the provider signed is booked, what someone forged fails without retry", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const url = await start(t, "express-webhook-signature", service.url);
  assert.equal((await service.rest("POST", "/apps", { body: { url } })).status, 201);
  const transform = readFileSync(new URL("express-webhook-signature/webhooks/payments/transform.js", EXAMPLES), "utf8");
  const webhook = (await service.rest("POST", "/webhooks", { body: { name: "Payments", transform } })).body.data as { url: string };
  const send = async (raw: string, signature: string) => {
    const headers = { "content-type": "application/json", "x-payments-signature": signature };
    const { ids } = (await (await fetch(webhook.url, { method: "POST", headers, body: raw })).json()) as { ids: [string] };
    return ended(service, ids[0]);
  };
  const raw = '{ "id": "evt_1", "type": "charge.succeeded", "amount": 1250 }';
  const genuine = await send(raw, `sha256=${createHmac("sha256", "only-for-trying-out").update(raw).digest("hex")}`);
  assert.deepEqual([genuine.status, genuine.output], ["completed", { booked: "evt_1", amount: 1250 }]);
  const forged = await send('{"id":"evt_2","type":"charge.succeeded","amount":1}', "sha256=00");
  assert.deepEqual([forged.status, forged.error?.name], ["failed", "NonRetriableError"]);
});

interface EndedRun {
  status: string;
  output?: unknown;
  error: { name: string } | null;
}

async function ended(service: TestService, eventId: string): Promise<EndedRun> {
  for (const deadline = Date.now() + 300_000; ; ) {
    const runs = (await service.rest("GET", `/events/${eventId}/runs`)).body.data as { id: string; endedAt: string | null }[];
    const done = runs.find(({ endedAt }) => endedAt !== null);
    if (done) return (await service.rest("GET", `/runs/${done.id}`)).body.data as EndedRun;
    assert(Date.now() < deadline, `the run did not end: ${JSON.stringify(runs)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("alerts-to-slack: an alert that a rule raises is posted, and so is its end; a post that fails is tried again", async (t) => {
  const texts: string[] = [];
  const channel = createServer(async (request, response) => {
    texts.push(((await json(request)) as { text: string }).text);
    response.writeHead(texts.length === 1 ? 500 : 200).end();
  }).listen(0, "127.0.0.1");
  t.after(() => channel.close());
  const service = await startTestService(t, { mode: "dev", flags: ["--retry-interval", "10ms"] });
  const slack = `http://127.0.0.1:${(channel.address() as AddressInfo).port}/hook`;
  const url = await start(t, "alerts-to-slack", service.url, { SLACK_WEBHOOK_URL: slack });
  assert.equal((await service.rest("POST", "/apps", { body: { url } })).status, 201);
  const body = { name: "Nobody subscribes", kind: "unmatched_events", threshold: 1 };
  const rule = (await service.rest("POST", "/alert-rules", { body })).body.data as { id: string };
  await service.send({ name: "shop/unheard", data: {} });
  const posted = async (count: number) => {
    for (const deadline = Date.now() + 300_000; texts.length < count; await new Promise((resolve) => setTimeout(resolve, 20)))
      assert(Date.now() < deadline, `only these were posted: ${texts}`);
  };
  await posted(2);
  const raised = "Raised in dev: Nobody subscribes, measured 1, threshold 1";
  assert.deepEqual(texts, [raised, raised], "the first post was refused");
  assert.equal((await service.rest("PUT", `/alert-rules/${rule.id}`, { body: { enabled: false } })).status, 200);
  await posted(3);
  assert.match(texts[2] ?? "", /^Resolved in dev: Nobody subscribes, raised since \d{4}-/);
});

test("approvals-to-slack: the link is posted to Slack and by email, whoever opens it decides, and the run goes on", async (t) => {
  const posted = new Map<string, { text: string; to?: string; subject?: string }>();
  const sink = createServer(async (request, response) => {
    posted.set(request.url ?? "", (await json(request)) as { text: string });
    response.end();
  }).listen(0, "127.0.0.1");
  t.after(() => sink.close());
  const service = await startTestService(t, { mode: "dev", flags: ["--retry-interval", "10ms"] });
  const origin = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
  const settings = { SLACK_WEBHOOK_URL: `${origin}/slack`, MAIL_API_URL: `${origin}/mail`, MAIL_TO: "ada@example.com" };
  const url = await start(t, "approvals-to-slack", service.url, settings);
  assert.equal((await service.rest("POST", "/apps", { body: { url } })).status, 201);
  const { body } = await service.send({ name: "shop/refund.requested", data: { refundId: "r-1", amount: 42 } });
  for (const deadline = Date.now() + 300_000; posted.size < 2; await new Promise((resolve) => setTimeout(resolve, 20)))
    assert(Date.now() < deadline, `only these were posted: ${[...posted.keys()]}`);
  const { to, subject, text = "" } = posted.get("/mail") ?? {};
  assert.deepEqual([to, subject, posted.get("/slack")?.text], ["ada@example.com", "Refund 42 for r-1?", text]);
  const link = /http:\S+$/.exec(text)?.[0] ?? "";
  const decide = async (form: Record<string, string>) => (await fetch(link, { method: "POST", body: new URLSearchParams(form) })).text();
  assert.match(await (await fetch(link)).text(), /Refund 42 for r-1\?/);
  assert.match(await decide({ decision: "rejected", comment: "no" }), /Nothing has been decided yet/);
  assert.match(await decide({ decision: "rejected", comment: "no", confirm: "yes" }), /Thank you: rejected/);
  assert.equal((await ended(service, body.ids[0] as string)).output, "rejected by link: no");
});

testOnce("next-fetch: a user is welcomed, and reminded when no confirmation comes", async (t) => {
  const { url } = await startAlone(t, "next-fetch");
  const event = { name: "app/user.signed-up", data: { userId: 1, name: "Ada" } };
  assert.equal((await driveRun({ url, functionId: "next-fetch-welcome", event })).output, "reminded");
  const confirmation = { name: "app/user.confirmed", data: { userId: 1 }, id: "2", ts: 1 };
  assert.equal((await driveRun({ url, functionId: "next-fetch-welcome", event, outcomes: { confirmation } })).output, "confirmed");
});
