/** Events of one person, in every place where a copy or a key computed from them can come to stand; and some of somebody else. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type Inlet, NonRetriableError } from "@inlet/sdk";
import { type AnyFunction, startApp } from "./app.ts";
import { endedRun, runsOfEvent, runsOfFunction, until } from "./runs.ts";
import { startTestService, type TestService, type TestServiceOptions } from "./service.ts";
import { makeWebhook, post } from "./webhooks.ts";

export const NEEDLE = "correct-horse-battery-staple";
export const KEPT = "somebody-else-entirely";
/** Ids stay, also those that senders choose. */
export const DEDUP_ID = "an-id-that-the-sender-chose";

const TRANSFORM = "function transform(evt) { return { name: 'hook/came', id: evt.id, data: { who: evt.who } }; }";
const KEY = "event.data.who";

function copyingFunctions(client: Inlet): AnyFunction[] {
  const child = client.createFunction({ id: "child", idempotency: KEY }, { event: "app/none" }, async ({ event }) => event.data.who);
  return [
    child,
    client.createFunction({ id: "steps" }, { event: "app/steps" }, async ({ event, step }) => {
      const found = await step.run("look up", () => ({ found: `${event.data.who} `.repeat(300) }));
      return { who: event.data.who, length: found.found.length };
    }),
    client.createFunction({ id: "fails" }, { event: "app/fails" }, async ({ event }) => {
      throw new NonRetriableError(`no such person: ${event.data.who}`);
    }),
    client.createFunction({ id: "handles" }, { event: "inlet/function.failed" }, async ({ event }) => event.data),
    client.createFunction({ id: "waits" }, { event: "app/waits" }, async ({ event, step }) => {
      await step.run("before", () => event.data.who);
      await step.sleep("long", "30d");
    }),
    client.createFunction({ id: "gathers", batchEvents: { maxSize: 3, timeout: "1h" } }, { event: "app/gathers" }, async ({ events }) =>
      events.map(({ data }) => data.who),
    ),
    // Their own events say nothing of the person: what they receive, send and get back does.
    client.createFunction({ id: "receives" }, { event: "app/case" }, async ({ step }) => {
      const answer = await step.waitForEvent("answer", { event: "app/answer", match: "data.case", timeout: "1d" });
      return (answer as { data: { who: string } } | null)?.data.who;
    }),
    client.createFunction({ id: "invokes" }, { event: "app/case" }, async ({ step }) => {
      const who = await step.invoke("child", { function: child, data: { who: NEEDLE } });
      return String(who).length;
    }),
  ];
}

/** What each run of `app/keys` comes to; those without a status are never started. */
const KEYED: Record<string, string | undefined> = {
  limited: "completed",
  rare: "completed",
  once: "completed",
  single: "completed",
  first: "completed",
  ordered: "failed",
  stopped: "sleeping",
  asks: "waiting",
  signalled: "waiting",
  approved: "waiting",
  late: undefined,
  many: undefined,
};

function keyedFunctions(client: Inlet): AnyFunction[] {
  const on = { event: "app/keys" };
  const nothing = async () => undefined;
  const limits = { concurrency: [{ limit: 5, key: KEY }], throttle: { limit: 1, period: "1h", key: KEY } } as const;
  return [
    client.createFunction({ id: "limited", ...limits }, on, nothing),
    client.createFunction({ id: "rare", rateLimit: { limit: 1, period: "1h", key: KEY } }, on, nothing),
    client.createFunction({ id: "once", idempotency: KEY }, on, nothing),
    client.createFunction({ id: "single", singleton: { key: KEY, mode: "skip" } }, on, nothing),
    client.createFunction({ id: "first", concurrency: { fn: [{ limit: 1, key: KEY }] }, priority: { run: "100" } }, on, nothing),
    client.createFunction({ id: "late", debounce: { period: "1h", key: KEY } }, on, nothing),
    client.createFunction({ id: "many", batchEvents: { maxSize: 10, timeout: "1h", key: KEY } }, on, nothing),
    client.createFunction({ id: "ordered", retries: 0, ordering: { key: KEY, onFailure: "hold" } }, on, async () => {
      throw new Error("no");
    }),
    client.createFunction({ id: "stopped", cancelOn: [{ event: "app/stop", match: "data.who" }] }, on, async ({ step }) => {
      await step.sleep("long", "30d");
    }),
    client.createFunction({ id: "asks" }, on, async ({ step }) => {
      await step.waitForEvent("reply", { event: "app/reply", match: "data.who", timeout: "30d" });
    }),
    client.createFunction({ id: "signalled" }, on, async ({ event, step }) => {
      await step.waitForSignal("go", { signal: `go/${event.data.who}`, timeout: "30d" });
    }),
    client.createFunction({ id: "approved" }, on, async ({ event, step }) => {
      await step.waitForApproval("ok", { prompt: `For ${event.data.who}?`, data: event.data, timeout: "30d" });
    }),
  ];
}

export async function personalData(t: TestContext, options: TestServiceOptions) {
  const service = await startTestService(t, options);
  await startApp(t, service, (client) => [...copyingFunctions(client), ...keyedFunctions(client)]);
  const send = async (name: string, data: object, more: object = {}) => (await service.send({ name, data, ...more })).body.ids[0] as string;
  const of = (name: string, who: string, size = 1) => send(name, { who, more: who.repeat(size) }, { user: { mail: who } });
  const ids = { steps: await of("app/steps", NEEDLE), fails: await of("app/fails", NEEDLE), waits: await of("app/waits", NEEDLE) };
  await Promise.all([of("app/gathers", NEEDLE), of("app/gathers", KEPT)]);
  const [large, other] = [await of("app/large", NEEDLE, 2_000), await of("app/steps", KEPT)];
  const [keyed, started] = [await of("app/keys", NEEDLE), await send("app/case", { case: 7 }, { id: DEDUP_ID })];
  const webhooks = [await makeWebhook(service, TRANSFORM), await makeWebhook(service, TRANSFORM)];
  for (const { url } of webhooks) {
    const came = await post(`${url}?who=${NEEDLE}`, { id: "twice", who: NEEDLE }, { "x-who": NEEDLE });
    assert.equal(came.status, 200, came.text);
  }
  await refusedAndReplayed(service);
  await askedWithoutRun(service);
  await until("it waits for the answer", async () => {
    const runs = await runsOfFunction(service, "shop-receives");
    return runs[0]?.status === "waiting" || undefined;
  });
  await send("app/answer", { case: 7, who: NEEDLE });
  for (const id of [ids.steps, ids.fails, other]) await endedRun(service, id);
  for (const name of ["shop-receives", "shop-invokes"]) await endedRun(service, started, name);
  await settled(service, keyed, ids.waits);
  return { service, ids, large, other, webhooks, keyed, started };
}

/** A request that the transform refused, and that became an event later. */
async function refusedAndReplayed(service: TestService): Promise<void> {
  const { id, url } = await makeWebhook(service, "function transform(evt) { throw new Error(evt.who); }");
  assert.equal((await post(url, { who: NEEDLE })).status, 400);
  await service.rest("PUT", `/webhooks/${id}`, { body: { transform: TRANSFORM } });
  const { body } = await service.rest("GET", `/webhooks/${id}/requests`);
  const replayed = await service.rest("POST", `/webhooks/${id}/requests/${body.data[0].id}/replay`);
  assert.equal(replayed.status, 201, replayed.text);
}

async function settled(service: TestService, keyed: string, waits: string): Promise<void> {
  await until("the failure was handled", async () => {
    const runs = await runsOfFunction(service, "shop-handles");
    return (runs.length >= 2 && runs.every(({ status }) => status === "completed")) || undefined;
  });
  await until("the run sleeps", async () => (await runsOfEvent(service, waits))[0]?.status === "sleeping" || undefined);
  await until("the runs with keys", async () => {
    const runs = await runsOfEvent(service, keyed);
    const status = (name: string) => runs.find((run) => run.function.id === `shop-${name}`)?.status;
    return Object.entries(KEYED).every(([name, wanted]) => status(name) === wanted) || undefined;
  });
}

/** Approvals that no run waits for yet: one is open, and the decision of the other is kept. */
async function askedWithoutRun(service: TestService): Promise<void> {
  const ask = async (signal: string) => {
    const body = { signal: `${signal} ${NEEDLE}`, prompt: `For ${NEEDLE}?`, data: { who: NEEDLE }, timeout: "1d" };
    const { status, body: asked } = await service.rest("POST", "/approvals", { body, headers: { "idempotency-key": signal } });
    assert.equal(status, 201);
    return asked.data.id as string;
  };
  await ask("open");
  const body = { decision: "approved", comment: NEEDLE, data: NEEDLE };
  assert.equal((await service.rest("POST", `/approvals/${await ask("decided")}`, { body })).status, 200);
}
