/** A rerun from a step keeps the results before it, also where an SDK reports them during one call and its clock is not that of the service. */

import assert from "node:assert/strict";
import { serveApp, syncApp } from "./support/apps/app-server.ts";
import { V4 } from "./support/apps/sdk-v4.ts";
import { test } from "./support/both-stores.ts";
import { endedRun, isEnded, runDetails, until } from "./support/runs.ts";
import { EVENT_KEY, startTestService } from "./support/service.ts";

const BEFORE = ["one", "two"];
const AFTER = ["three", "four"];
const NAMES = [...BEFORE, "rest", ...AFTER];

type Shown = { name: string; endedAt: string };

for (const [aheadMs, bufferedSteps] of [
  [-30, 1],
  [30, 2],
] as const) {
  const how = `${Math.abs(aheadMs)} ms ${aheadMs < 0 ? "behind" : "ahead"}, ${bufferedSteps} steps a checkpoint`;
  test(`the service's clock is ${how}`, async (t) => {
    const service = await startTestService(t, { mode: "dev", now: () => Date.now() + aheadMs });
    const client = V4.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true, checkpointing: { bufferedSteps } });
    const ran: string[] = [];
    const steps = client.createFunction({ id: "steps", retries: 0 }, [{ event: "app/steps" }], async ({ step }) => {
      for (const name of BEFORE) await step.run(name, () => ran.push(name));
      await step.sleep("rest", 1);
      for (const name of AFTER) await step.run(name, () => ran.push(name));
    });
    await syncApp(service, (await serveApp(t, V4.listener(client, [steps]))).url);
    const { ids } = await client.send({ name: "app/steps", data: {} });
    const run = await endedRun(service, ids[0] as string, "app-steps");
    const shown = (await runDetails(service, run.id)).steps ?? [];
    const times = JSON.stringify(shown.map(({ name, startedAt, endedAt }) => ({ name, startedAt, endedAt })));
    for (const [position, name] of NAMES.entries()) {
      ran.length = 0;
      const from = shown.find((step) => step.name === name).id;
      const rerun = await service.rest("POST", `/runs/${run.id}/rerun`, { body: { from } });
      assert.equal(rerun.status, 201, rerun.text);
      const again = await until("the rerun", async () => {
        const details = await runDetails(service, rerun.body.data.id);
        return isEnded(details) ? details : undefined;
      });
      const isKept = ({ name, endedAt }: Shown) => shown.some((step) => step.name === name && step.endedAt === endedAt);
      const kept = (again.steps as Shown[]).filter(isKept).map((step) => step.name);
      assert.deepEqual(kept, NAMES.slice(0, position), times);
      const rest = NAMES.slice(position).filter((one) => one !== "rest");
      assert.deepEqual(ran, rest, times);
    }
  });
}
