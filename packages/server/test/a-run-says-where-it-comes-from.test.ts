/** A run names the run that invoked it, the event that resumed each of its waits, and the job that started it. */

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
        await step.waitForEvent("an answer", { event: "shop/answered", timeout: "1h" });
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
