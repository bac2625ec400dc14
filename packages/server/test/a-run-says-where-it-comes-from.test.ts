/** Runs and events name each other: what started, invoked, resumed or cancelled a run, and which run sent an event. */

import assert from "node:assert/strict";
import { hasEnded, poll, type RunView, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { startTestService } from "./support/service.ts";

test("a run names its invoker, the events that resumed it, and its job", async (t) => {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => {
    const child = inlet.createFunction({ id: "child" }, { event: "shop/never" }, () => "done");
    return [
      child,
      inlet.createFunction({ id: "parent" }, { event: "shop/begun" }, async ({ step }) => {
        await step.invoke("ask the child", { function: child, data: {} });
        await step.waitForEvent("a response", { event: "shop/answered", timeout: "1h" });
        await step.waitForEvent("nothing", { event: "shop/never", timeout: "1ms" });
      }),
    ];
  });
  const runs = async (query: string): Promise<RunView[]> => (await service.rest("GET", `/runs?${query}`)).body.data;
  const details = async (id: string): Promise<RunView> => (await service.rest("GET", `/runs/${id}`)).body.data;
  const [begun] = (await service.send({ name: "shop/begun", data: {} })).body.ids;
  const waiting = await poll(async () => {
    const [run] = (await service.rest("GET", `/events/${begun}/runs`)).body.data;
    return run && (await details(run.id)).steps[1]?.status === "waiting" ? run : null;
  }, "the wait");
  const [answer] = (await service.send({ name: "shop/answered", data: {} })).body.ids;
  const parent = await poll(async () => {
    const run = await details(waiting.id);
    return hasEnded(run) ? run : null;
  }, "the end of the run");
  const [invocation, wait, timeout] = parent.steps;
  assert.deepEqual([wait.eventName, wait.eventId], ["shop/answered", answer]);
  assert.deepEqual([timeout.eventName, timeout.eventId], ["shop/never", null], "a timeout is no event");
  assert.deepEqual([parent.invokedBy, parent.job], [null, null]);
  const child = await details(invocation.childRunId);
  assert.deepEqual([child.function.id, child.invokedBy], ["shop-child", parent.id]);

  const job = (await service.rest("POST", "/jobs", { body: { kind: "runs.rerun", filter: { function: "shop-parent" } } })).body.data;
  const again = await poll(async () => (await runs(`job=${job.id}`))[0] ?? null, "the run that the job starts");
  assert.deepEqual([(await details(again.id)).job, again.originalRunId], [job.id, parent.id]);
});

test("an event names the run that sent it, and the runs that it started, resumed and cancelled", async (t) => {
  const service = await startTestService(t);
  await startApp(t, service, (inlet) => {
    const child = inlet.createFunction({ id: "child" }, { event: "shop/never" }, () => "done");
    return [
      child,
      inlet.createFunction({ id: "sender" }, { event: "shop/begun" }, async ({ step }) => {
        await step.sendEvent("tell", { name: "shop/told", data: { n: 1 } });
        await step.invoke("ask the child", { function: child, data: {} });
      }),
      inlet.createFunction({ id: "listener" }, { event: "shop/told" }, async ({ step }) => {
        await step.waitForEvent("a response", { event: "shop/answered", timeout: "1h" });
      }),
      inlet.createFunction({ id: "doomed", cancelOn: [{ event: "shop/answered" }] }, { event: "shop/told" }, async ({ step }) => {
        await step.sleep("for long", "1h");
      }),
    ];
  });
  const runsOf = async (event: string, query = ""): Promise<RunView[]> =>
    (await service.rest("GET", `/events/${event}/runs${query}`)).body.data;
  const details = async (id: string): Promise<RunView> => (await service.rest("GET", `/runs/${id}`)).body.data;
  const [begun] = (await service.send({ name: "shop/begun", data: {} })).body.ids;
  const sender = await poll(async () => (await runsOf(begun)).find(hasEnded) ?? null, "the sending run");
  const [told] = (await service.rest("GET", "/events?name=shop/told")).body.data;
  assert.deepEqual([told.source.kind, told.source.id, told.source.run], ["function", "shop-sender", sender.id]);
  const [invocation] = (await service.rest("GET", "/events?name=inngest/function.invoked")).body.data;
  assert.deepEqual([invocation.source.kind, invocation.source.run], ["internal", sender.id]);
  const [invoked] = await runsOf(invocation.id);
  assert.deepEqual([invoked?.function.id, (await details(invoked?.id)).invokedBy], ["shop-child", sender.id]);

  const started = await poll(async () => {
    const runs = await runsOf(told.id);
    const resting = runs.filter(({ status }) => status === "waiting" || status === "sleeping");
    return resting.length === 2 ? resting : null;
  }, "both runs to rest");
  const [listener, doomed] = ["shop-listener", "shop-doomed"].map((id) => started.find((run) => run.function.id === id)?.id);
  const [answer] = (await service.send({ name: "shop/answered", data: {} })).body.ids;
  await poll(async () => ((await runsOf(told.id)).every(hasEnded) ? true : null), "both runs to end");
  assert.equal((await details(doomed)).cancelledBy, answer);
  assert.equal((await details(listener)).cancelledBy, null);
  const ids = async (relation: string) => (await runsOf(answer, `?relation=${relation}`)).map(({ id }) => id);
  assert.deepEqual([await ids("started"), await ids("resumed"), await ids("cancelled")], [[], [listener], [doomed]]);
  assert.equal((await service.rest("GET", `/events/${answer}/runs?relation=eaten`)).status, 400);
  const sent = await service.rest("GET", `/events/${begun}`);
  assert.equal(sent.body.data.source.run, undefined, "nobody's run sent it");
});
