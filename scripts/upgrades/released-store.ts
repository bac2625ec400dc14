/**
 * A store as a release leaves it, and what the program of this checkout has to do with it: open and migrate it, find everything, know its
 * duplicates, go on with its runs, and take new events.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { poll } from "../../packages/server/test/support/app.ts";
import { onEnd } from "../../packages/server/test/support/on-end.ts";
import { startInlet } from "../../packages/server/test/support/process.ts";

const KEYS = {
  SERVICE_EVENT_KEY: "evk_upgrade_1",
  SERVICE_API_KEY: "ak_upgrade_1",
  SERVICE_SIGNING_KEY: `signkey-prod-${"ab".repeat(16)}`,
};
const ORDER = { name: "shop/order.created", data: { orderId: 4711, exact: "1.10" }, id: "order-4711" };

/** Flags that choose the store. */
export type StoreFlags = readonly string[];

export interface LeftBehind {
  eventId: string;
  webhookUrl: string;
  app: UpgradeApp;
}

interface UpgradeApp {
  url: string;
  /** Runs that have ended, by the order's id. */
  ended: number[];
}

/** Lets a program write a store, and stops it in the middle of a run. */
export async function writeStore(t: TestContext, program: string, flags: StoreFlags): Promise<LeftBehind> {
  const argv = ["start", "--port", "0", "--host", "127.0.0.1", ...flags];
  const old = await startInlet(t, argv, KEYS, program);
  const app = await startUpgradeApp(t, old.url);
  await rest(old.url, "POST", "/apps", { url: app.url });
  const { url: webhookUrl } = await rest(old.url, "POST", "/webhooks", {
    name: "hook",
    transform: "(evt) => ({ name: 'shop/hook', data: evt })",
  });
  const eventId = await send(old.url, ORDER);
  await poll(async () => ((await rest(old.url, "GET", "/runs?status=sleeping")).length === 1 ? true : null), "a run that sleeps");
  assert.equal(await old.end("SIGTERM"), 0);
  return { eventId, webhookUrl, app };
}

export async function useStore(t: TestContext, flags: StoreFlags, { eventId, webhookUrl, app }: LeftBehind): Promise<void> {
  const inlet = await startInlet(t, ["start", "--port", "0", "--host", "127.0.0.1", ...flags], KEYS);
  const { name, data, dedupId } = await rest(inlet.url, "GET", `/events/${eventId}`);
  assert.deepEqual({ name, data, id: dedupId }, ORDER);
  assert.equal(await send(inlet.url, ORDER), eventId, "a duplicate is known");
  await poll(async () => (app.ended.includes(4711) ? true : null), "the end of order 4711");
  await poll(async () => ((await rest(inlet.url, "GET", "/runs?status=completed")).length === 1 ? true : null), "a run that has ended");
  await send(inlet.url, { ...ORDER, data: { orderId: 4712 }, id: "order-4712" });
  await poll(async () => (app.ended.includes(4712) ? true : null), "the end of order 4712");
  const posted = await fetch(`${inlet.url}${new URL(webhookUrl).pathname}`, {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json" },
  });
  assert.equal(posted.status, 200, await posted.text());
  assert.equal(await inlet.end("SIGTERM"), 0);
}

/** It outlives both programs, as an app does. */
async function startUpgradeApp(t: TestContext, baseUrl: string): Promise<UpgradeApp> {
  const ended: number[] = [];
  const client = new Inlet({ id: "shop", baseUrl, eventKey: KEYS.SERVICE_EVENT_KEY, signingKey: KEYS.SERVICE_SIGNING_KEY });
  const ship = client.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {
    const label = await step.run("label", () => `label ${event.data.orderId}`);
    await step.sleep("nap", "3s");
    await step.run("ship", () => ended.push(Number(event.data.orderId)));
    return label;
  });
  const server = createServer(serve({ client, functions: [ship] }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => new Promise((resolve) => server.close(resolve)));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inlet`, ended };
}

async function send(url: string, event: unknown): Promise<string> {
  const response = await fetch(`${url}/e/${KEYS.SERVICE_EVENT_KEY}`, { method: "POST", body: JSON.stringify(event) });
  const { ids } = (await response.json()) as { ids: [string] };
  assert.equal(response.status, 200);
  return ids[0];
}

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
async function rest(url: string, method: string, path: string, body?: unknown): Promise<any> {
  const headers = { authorization: `Bearer ${KEYS.SERVICE_API_KEY}`, ...(body !== undefined && { "content-type": "application/json" }) };
  const response = await fetch(`${url}/v1${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  const answer = (await response.json()) as { data: unknown };
  assert.ok(response.ok, `${method} ${path}: ${JSON.stringify(answer)}`);
  return answer.data;
}
