/** Rerunning from a step keeps the results that were there before it began, and runs it and everything after it again. */

import assert from "node:assert/strict";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { isEnded, runDetails, runsOfEvent, until } from "./support/runs.ts";
import { startTestService } from "./support/service.ts";

test("what came before the step is kept, the rest runs again", async (t) => {
  const service = await startTestService(t);
  const ran: string[] = [];
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "three" }, { event: "shop/three" }, async ({ step }) => {
      const first = await step.run("first", () => `first ${ran.push("first")}`);
      const second = await step.run("second", () => `second ${ran.push("second")}`);
      const third = await step.run("third", () => `third ${ran.push("third")}`);
      return [first, second, third];
    }),
  ]);
  const eventId = (await service.send({ name: "shop/three", data: {} })).body.ids[0];
  const run = await until("the run", async () => (await runsOfEvent(service, eventId)).find(isEnded));
  const { steps = [] } = await runDetails(service, run.id);
  const second = steps.find(({ name }) => name === "second");
  const rerun = await service.rest("POST", `/runs/${run.id}/rerun`, { body: { from: second.id } });
  assert.equal(rerun.status, 201, rerun.text);
  const again = await until("the rerun", async () => {
    const details = await runDetails(service, rerun.body.data.id);
    return isEnded(details) ? details : undefined;
  });
  assert.deepEqual(again.output, ["first 1", "second 4", "third 5"]);
  assert.equal(again.originalRunId, run.id);
  assert.deepEqual(ran, ["first", "second", "third", "second", "third"]);
  const unknown = await service.rest("POST", `/runs/${run.id}/rerun`, { body: { from: "nothing" } });
  assert.deepEqual([unknown.status, unknown.body.code], [404, "step_not_found"]);
  assert.equal((await service.rest("POST", `/runs/${run.id}/rerun`, { body: { form: "x" } })).status, 400);
  assert.equal((await service.rest("POST", `/runs/${run.id}/rerun`)).status, 201, "without a body, from the start");
});
