/** A sleep that somebody ends early goes on at once, and once: however many ask, and if its time comes meanwhile. */

import assert from "node:assert/strict";
import { runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { startTestService } from "./support/service.ts";

test("a sleep is ended early, once, by who may repair; the audit log has it", async (t) => {
  const service = await startTestService(t);
  const bodies: string[] = [];
  await startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "nap" }, { event: "shop/nap" }, async ({ event, step }) => {
      await step.run("before", () => null);
      await step.sleep("rest", event.data.sleep);
      await step.run("after", () => bodies.push(event.data.sleep));
      await step.waitForEvent("forever", { event: "shop/never", timeout: "1d" });
    }),
  ]);
  const asleep = async (sleep: string) => {
    const { body } = await service.send({ name: "shop/nap", data: { sleep } });
    // A short sleep may be over before it is seen.
    const [run] = await runsOf(service, body.ids[0], { until: ({ status }) => status === "sleeping" || status === "waiting" });
    const [done, rest] = run.steps;
    const goneOn = async () => (await runsOf(service, body.ids[0], { until: ({ status }) => status === "waiting" }))[0];
    return { run, done, rest, goneOn };
  };
  const wake = (run: string, step: string, headers = {}) => service.rest("POST", `/runs/${run}/steps/${step}/wake`, { headers });

  const { run, done, rest, goneOn } = await asleep("1d");
  const viewer = await service.rest("POST", "/keys", { body: { kind: "api", name: "v", role: "viewer" } });
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  const refused = [
    await wake(run.id, rest.id, { authorization: `Bearer ${viewer.body.data.key}` }),
    await wake(run.id, rest.id, { "x-service-env": "staging" }),
    await wake(run.id, "nothing"),
    await wake(run.id, done.id),
  ];
  assert.deepEqual(
    refused.map(({ body }) => body.code),
    ["role_forbidden", "run_not_found", "step_not_found", "step_not_sleeping"],
  );
  const answers = await Promise.all(Array.from({ length: 6 }, () => wake(run.id, rest.id)));
  assert.deepEqual(answers.map(({ status, body }) => body.code ?? status).sort(), [200, ...Array(5).fill("step_not_sleeping")]);
  const after = await goneOn();
  const woken = after.steps.find(({ id }: { id: string }) => id === rest.id);
  assert.deepEqual([woken.status, woken.output, woken.until], ["completed", null, rest.until]);
  assert.ok(woken.endedAt < woken.until);
  assert.deepEqual(bodies, ["1d"]);
  const { body } = await service.rest("GET", "/audit-log?action=run.woken");
  assert.deepEqual([body.data.length, body.data[0].target.id, body.data[0].details.step], [1, run.id, "rest"]);
  await service.rest("POST", `/runs/${run.id}/cancel`);
  assert.equal((await wake(run.id, rest.id)).body.code, "run_ended");

  // Sleeps whose time comes while somebody ends them.
  bodies.length = 0;
  const naps = await Promise.all(Array.from({ length: 8 }, () => asleep("1s")));
  await Promise.all(
    naps.map(async (nap, i) => {
      const leftMs = Date.parse(nap.rest.until) - Date.now() - 12 + i * 3;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, leftMs)));
      await wake(nap.run.id, nap.rest.id);
      await nap.goneOn();
    }),
  );
  assert.equal(bodies.length, naps.length);
});
