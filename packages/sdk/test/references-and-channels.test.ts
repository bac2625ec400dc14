/** Functions of other apps and realtime channels with their types, and the React hook. */

import assert from "node:assert/strict";
import { test as testOnce } from "node:test";
import { type ChannelMessage, Inlet, realtimeChannel, referenceFunction, topic } from "@inlet/sdk";
import { useRealtime } from "@inlet/sdk/react";
import { runFunction } from "@inlet/sdk/testing";
import { createElement } from "react";
import { renderToString } from "react-dom/server";
import * as v from "valibot";
import { test } from "../../server/test/support/both-stores.ts";
import { freePort } from "../../server/test/support/free-port.ts";
import { startTestService, temporaryFolder } from "../../server/test/support/service.ts";
import { RealtimeFollower, type RealtimeState } from "../src/react/follow-realtime.ts";
import { setStage } from "./service-stage.ts";
import { operationsOf, run, testApp } from "./test-app.ts";

const billing = new Inlet({ id: "billing", events: { "billing/taxed": v.object({ net: v.number() }) } });
const tax = billing.createFunction({ id: "tax" }, { event: "billing/taxed" }, ({ event }) => ({
  gross: event.data.net * 1.2,
  at: new Date(0),
}));

testOnce("a reference names a function of another app, and has its types", async (t) => {
  const { inlet } = await testApp(t);
  const reference = referenceFunction<typeof tax>({ appId: "billing", id: "tax" });
  const strict = referenceFunction({
    appId: "billing",
    id: "strict",
    data: v.object({ net: v.number() }),
    result: v.object({ ok: v.boolean() }),
  });
  const fn = inlet.createFunction({ id: "f" }, { event: "x" }, async ({ event, step }) => {
    const { gross, at } = await step.invoke("tax", { function: reference, data: { net: 10 } });
    const typed: [number, string] = [gross, at];
    const { ok } = await step.invoke("strict", { function: strict, data: event.data.wrong ? ({ net: "ten" } as never) : { net: 1 } });
    const sure: boolean = ok;
    return [...typed, sure];
  });
  inlet.createFunction({ id: "types" }, { event: "x" }, async ({ step }) => {
    // @ts-expect-error: the function needs a number
    await step.invoke("wrong", { function: reference, data: { net: "10" } });
    // @ts-expect-error: the function needs data
    await step.invoke("none", { function: strict });
  });
  const steps = { tax: { gross: 12, at: "1970" }, strict: { ok: true } };
  assert.deepEqual((await runFunction(fn, { steps })).result, [12, "1970", true]);
  const asked = await run(t, fn, {
    event: { name: "x", data: {} },
    outcomes: { tax: { data: steps.tax }, strict: { data: steps.strict } },
  });
  const [first] = operationsOf(asked, 0);
  assert.deepEqual(first?.opts, { function_id: "billing-tax", payload: { data: { net: 10 } } });
  const { error } = await runFunction(fn, { steps, event: { data: { wrong: true } } });
  assert.match(error?.message ?? "", /The data of the invocation of "strict" breaks its schema: data\.net/);
  assert.throws(() => referenceFunction({ appId: "", id: "tax" }));
});

const user = realtimeChannel((id: string) => `user:${id}`, { progress: topic<{ percent: number }>(), done: v.object({ url: v.string() }) });

test("topics of a channel have types, for those who publish and those who subscribe", async (t) => {
  const { inlet, open, service } = await setStage(t, "dev");
  const fn = inlet.createFunction({ id: "import" }, { event: "x" }, async ({ step }) => {
    await step.realtime.publish("half", user("7").topic("progress"), { percent: 50 });
    await step.realtime.publish("done", user("7").topic("done"), { url: "https://files.example/1" });
    // @ts-expect-error: percent is a number
    () => step.realtime.publish("wrong", user("7").topic("progress"), { percent: "50" });
    // @ts-expect-error: there is no such topic
    () => user("7").topic("progres");
  });
  await open(fn);
  const seen: unknown[] = [];
  let both = () => {};
  const arrived = new Promise<void>((resolve) => (both = resolve));
  const token = await inlet.realtime.token(user("7"));
  assert.deepEqual([token.channel, token.topics], ["user:7", ["progress", "done"]]);
  const states: RealtimeState[] = [];
  let isOpen = () => {};
  const opened = new Promise<void>((resolve) => (isOpen = resolve));
  const follower = new RealtimeFollower({
    token: () => inlet.realtime.token(user("7")),
    messagesMax: 1,
    onChange: (state) => {
      states.push(state);
      if (state.status === "open") isOpen();
    },
  });
  follower.start();
  const subscription = await inlet.realtime.subscribe(user("7"), (message: ChannelMessage<typeof user>) => {
    const value: number | string = message.topic === "progress" ? message.data.percent : message.data.url;
    if (seen.push(value) === 2) both();
  });
  await opened;
  await inlet.send({ name: "x", data: {} });
  await arrived;
  assert.deepEqual(seen, [50, "https://files.example/1"]);
  subscription.close();
  for (const deadline = Date.now() + 30_000; states.at(-1)?.messages[0]?.topic !== "done" && Date.now() < deadline; )
    await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(
    states.at(-1)?.messages.map(({ topic: name, data }) => [name, data]),
    [["done", { url: "https://files.example/1" }]],
    "the newest are kept",
  );
  follower.stop();
  assert.equal(states.at(-1)?.status, "closed");
  assert.throws(() => user("7").topic("absent" as "done"), /has no topic "absent"\. It has: progress, done/);
  assert(service.url);
});

test("a follower whose service restarts gets the messages that it missed, each once", async (t) => {
  const dataDir = temporaryFolder(t);
  const port = await freePort();
  const first = await startTestService(t, { mode: "dev", dataDir, port });
  const inlet = new Inlet({ id: "shop", baseUrl: first.url, isDev: true });
  const progress = user("9").topic("progress");
  let state: RealtimeState | undefined;
  const reached = async (what: string, isThere: () => boolean) => {
    for (const deadline = Date.now() + 300_000; !isThere(); await new Promise((resolve) => setTimeout(resolve, 20)))
      assert.ok(Date.now() < deadline, `${what}: ${JSON.stringify(state)}`);
  };
  const follower = new RealtimeFollower({
    token: () => inlet.realtime.token(user("9")),
    messagesMax: 10,
    onChange: (now) => {
      state = now;
    },
  });
  follower.start();
  t.after(() => follower.stop());
  await reached("the connection", () => state?.status === "open");
  await inlet.realtime.publish(progress, { percent: 1 });
  await reached("the first message", () => state?.messages.length === 1);
  await first.stop();
  await startTestService(t, { mode: "dev", dataDir, port });
  for (const percent of [2, 3]) await inlet.realtime.publish(progress, { percent });
  await reached("the others", () => (state?.messages.length ?? 0) >= 3);
  assert.deepEqual(
    state?.messages.map(({ id, data }) => [id, data]),
    [1, 2, 3].map((percent) => [percent, { percent }]),
  );
  assert.equal(state?.hasGap, false);
});

testOnce("a follower asks for another token until one works, and says why it could not connect", async () => {
  let asked = 0;
  const states: RealtimeState[] = [];
  const again = new Promise<void>((resolve) => {
    const follower = new RealtimeFollower({
      token: async () => {
        if (++asked === 2) {
          follower.stop();
          resolve();
        }
        throw new Error("signed out");
      },
      messagesMax: 10,
      onChange: (state) => void states.push(state),
    });
    follower.start();
  });
  await again;
  assert.deepEqual([asked, states[0]?.status, states[0]?.error?.message, states.at(-1)?.status], [2, "connecting", "signed out", "closed"]);
});

testOnce("the hook can be rendered on a server", () => {
  const View = () => {
    const { status, messages } = useRealtime<ChannelMessage<typeof user>>({
      token: () => Promise.reject(new Error("not on a server")),
      key: "7",
    });
    return createElement("p", null, `${status} ${messages.length}`);
  };
  assert.equal(renderToString(createElement(View)), "<p>connecting 0</p>");
});
