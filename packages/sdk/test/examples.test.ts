/** The apps in examples/, started as their READMEs say, registered and driven over HTTP. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import test, { type TestContext } from "node:test";
import vm from "node:vm";
import { driveRun } from "./drive-run.ts";
import { type RecordingService, startRecordingService } from "./recording-service.ts";

const EXAMPLES = new URL("../../../examples/", import.meta.url);

/** Starts an example with its own command, on a free port, and has it register its functions. */
async function start(t: TestContext, name: string): Promise<{ url: string; service: RecordingService; functions: string[] }> {
  const service = await startRecordingService(t);
  const folder = new URL(`${name}/`, EXAMPLES);
  const { scripts } = JSON.parse(readFileSync(new URL("package.json", folder), "utf8")) as { scripts: { start: string } };
  const [node, ...args] = scripts.start.split(" ");
  assert.equal(node, "node");
  const env = { ...process.env, PORT: "0", SERVICE_BASE_URL: service.url };
  const app = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => app.kill());
  for await (const line of createInterface(app.stdout)) {
    const origin = /^listening on (http:\S+)$/.exec(line)?.[1];
    if (!origin) continue;
    app.stdout.resume();
    const url = `${origin}/api/inlet`;
    assert.equal((await fetch(url, { method: "PUT" })).status, 200);
    const { functions } = JSON.parse(service.requests[0]?.body ?? "") as { functions: { id: string }[] };
    return { url, service, functions: functions.map(({ id }) => id) };
  }
  return assert.fail(`${name} ended before it was listening`);
}

test("node-shop: an order is sent, shipped, invoiced and announced", async (t) => {
  const { url, service, functions } = await start(t, "node-shop");
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
  const { url } = await start(t, "express-webhook-signature");
  const source = readFileSync(new URL("express-webhook-signature/webhooks/payments/transform.js", EXAMPLES), "utf8");
  const raw = '{ "id": "evt_1", "type": "charge.succeeded", "amount": 1250 }';
  const eventFor = (signature: string) =>
    JSON.parse(
      JSON.stringify(
        vm.runInNewContext(`${source}; transform(evt, headers, {}, raw)`, {
          evt: JSON.parse(raw),
          headers: { "X-Payments-Signature": signature },
          raw,
        }),
      ),
    );
  const signature = `sha256=${createHmac("sha256", "only-for-trying-out").update(raw).digest("hex")}`;
  const genuine = await driveRun({ url, functionId: "express-payments-book-payment", event: eventFor(signature), maxAttempts: 5 });
  assert.deepEqual(genuine.output, { booked: "evt_1", amount: 1250 });
  const forged = await driveRun({ url, functionId: "express-payments-book-payment", event: eventFor("sha256=00"), maxAttempts: 5 });
  assert.deepEqual([forged.status, forged.calls.length, (forged.output as Error).name], ["failed", 1, "NonRetriableError"]);
});

test("next-fetch: a user is welcomed, and reminded when no confirmation comes", async (t) => {
  const { url } = await start(t, "next-fetch");
  const event = { name: "app/user.signed-up", data: { userId: 1, name: "Ada" } };
  assert.equal((await driveRun({ url, functionId: "next-fetch-welcome", event })).output, "reminded");
  const confirmation = { name: "app/user.confirmed", data: { userId: 1 }, id: "2", ts: 1 };
  assert.equal((await driveRun({ url, functionId: "next-fetch-welcome", event, outcomes: { confirmation } })).output, "confirmed");
});
