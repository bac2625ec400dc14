/**
 * The service is killed at each point of a call's life, one case for each: whatever had been kept by then is not done again,
 * and nothing else is lost. What happens at random moments is runs-survive-crashes.test.ts's business.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { type OneRun, startOneRun } from "./support/one-run.ts";
import { until } from "./support/runs.ts";
import { call } from "./support/service.ts";
import { queryStore } from "./support/store-contents.ts";

const RUNS_CANCELLED = 150;
const ROUNDS_MAX = 10;

const NAMES = (run: { steps: { name: string; status: string }[] }) => run.steps.map(({ name, status }) => `${name} ${status}`);

/** What is killed, and what must hold afterwards. Each begins with a service that has nothing to do, and leaves it so. */
const POINTS: Record<string, (scene: OneRun, t: TestContext) => Promise<void>> = {
  "the event is acknowledged, and its run not called": async (scene) => {
    const calls = countCalls(scene);
    await scene.begin();
    await scene.kill();
    // The first call may have gone out before the kill.
    const before = calls();
    for (let n = 0; n < before; n++) await scene.app.next();
    await scene.restart();
    const { runId, finish } = await scene.app.next();
    await finish("done");
    assert.equal((await scene.ended(runId)).status, "completed");
    assert.equal(calls(), before + 1);
  },

  "the app has the call, and has not answered": async (scene) => {
    const calls = countCalls(scene);
    await scene.begin();
    await scene.app.next();
    await scene.kill();
    await scene.restart();
    const again = await scene.app.next();
    assert.deepEqual([again.done, again.attempt], [[], 0], "the same call again: a crash of the service is not the function's failure");
    await again.finish("done");
    assert.equal((await scene.ended(again.runId)).status, "completed");
    assert.equal(calls(), 2);
  },

  "the response has arrived, and is not committed": async (scene) => {
    const calls = countCalls(scene);
    await scene.begin();
    const first = await scene.app.next();
    // Stopped, the process reads nothing: the response is in its socket and nowhere else.
    scene.inlet.child.kill("SIGSTOP");
    await first.ranStep("a");
    await scene.kill();
    await scene.restart();
    const again = await scene.app.next();
    assert.deepEqual(again.done, [], "what was not kept is asked for again");
    await again.ranStep("a");
    const next = await scene.app.next();
    assert.deepEqual(next.done, ["a"]);
    await next.finish("done");
    assert.deepEqual(NAMES(await scene.ended(first.runId)), ["a completed"]);
    assert.equal(calls(), 3, "the step that crossed the crash ran twice");
  },

  "a step is committed, and the next call is on its way": async (scene) => {
    const calls = countCalls(scene);
    await scene.begin();
    await (await scene.app.next()).ranStep("a");
    await scene.app.next();
    await scene.kill();
    await scene.restart();
    const again = await scene.app.next();
    assert.deepEqual(again.done, ["a"], "what was kept comes with the call");
    await again.finish("done");
    assert.deepEqual(NAMES(await scene.ended(again.runId)), ["a completed"]);
    assert.equal(calls(), 3);
  },

  "a step was handed in while its call went on": async (scene) => {
    const calls = countCalls(scene);
    await scene.begin();
    const first = await scene.app.next();
    const handIn = (dispatch: string, id: string) => {
      const body = { qi_id: dispatch, steps: [{ op: "StepRun", id, name: id, displayName: id, data: 1 }] };
      return call(`${scene.inlet.url}/v1/checkpoint/${first.runId}/async`, { method: "POST", body: JSON.stringify(body) });
    };
    assert.equal((await handIn(first.dispatch, "a")).status, 200);
    await scene.kill();
    await scene.restart();
    const again = await scene.app.next();
    assert.deepEqual(again.done, ["a"], "it counts though its call never ended");
    const late = await handIn(first.dispatch, "b");
    assert.deepEqual([late.status, late.body.code], [409, "call_superseded"], "the call before the crash is told to stop");
    assert.equal((await handIn(again.dispatch, "b")).status, 200);
    await again.finish("done");
    assert.deepEqual(NAMES(await scene.ended(first.runId)), ["a completed", "b completed"]);
    assert.equal(calls(), 2);
  },

  "a retry waits for its time": async (scene) => {
    await scene.begin();
    const { runId, fail } = await scene.app.next();
    await fail(500);
    await until("the attempt", async () => {
      const { attempts } = (await call(`${scene.inlet.url}/v1/runs/${runId}`)).body.data;
      return attempts.length > 0 ? true : undefined;
    });
    await scene.kill();
    // The second attempt may have begun before the kill.
    for (let n = scene.app.waiting; n > 0; n--) await scene.app.next();
    await scene.restart();
    const again = await scene.app.next();
    assert.equal(again.attempt, 1, "the attempt before the crash counts");
    await again.finish("done");
    assert.equal((await scene.ended(runId)).status, "completed");
  },

  "the run's end is committed": async (scene) => {
    const calls = countCalls(scene);
    await scene.begin();
    const { runId, finish } = await scene.app.next();
    await finish("done");
    const ended = await scene.ended(runId);
    await scene.kill();
    await scene.restart();
    assert.deepEqual(await scene.ended(runId), ended);
    assert.equal(calls(), 1);
  },

  "a signal was accepted, and the request of a step is on its way": async (scene, t) => {
    const api = await startHeldApi(t);
    const rest = (path: string, init: RequestInit = {}) =>
      call(`${scene.inlet.url}/v1${path}`, { headers: { "content-type": "application/json" }, ...init });
    await scene.begin();
    const { runId, asks } = await scene.app.next();
    await asks("WaitForSignal", "approval", { signal: "approve", timeout: "1h" });
    await until("the wait", async () => ((await rest(`/runs/${runId}`)).body.data.status === "waiting" ? true : undefined));
    const signal = JSON.stringify({ signal: "approve", data: { by: "Ada" } });
    assert.equal((await rest("/signals", { method: "POST", body: signal })).status, 200);
    await scene.kill();
    // The run may have been resumed before the kill.
    for (let n = scene.app.waiting; n > 0; n--) await scene.app.next();
    await scene.restart();
    assert.equal((await rest("/signals", { method: "POST", body: signal })).status, 404, "it was delivered, once");

    const resumed = await scene.app.next();
    assert.deepEqual(resumed.done, ["approval"]);
    await resumed.asks("Gateway", "fetch", { url: api.url, method: "GET" });
    await api.next();
    await scene.kill();
    await scene.restart();
    (await api.next()).end("the answer");
    const last = await scene.app.next();
    assert.deepEqual(last.done, ["approval", "fetch"]);
    await last.finish("done");
    const run = await scene.ended(runId);
    assert.deepEqual(NAMES(run), ["approval completed", "fetch completed"]);
    assert.deepEqual([run.steps[0].output.data, run.steps[1].output.body, run.steps[1].attempts], [{ by: "Ada" }, "the answer", 1]);
    assert.equal(api.requests, 2, "made again: nobody knows whether the first was answered");
    const stored = run.calls.filter(({ stepId }: { stepId: string | null }) => stepId === "fetch");
    assert.equal(stored.length, 1, "its result is stored once");
  },

  "an approval was decided, and its run not resumed": async (scene) => {
    const rest = (path: string, body?: object) =>
      call(`${scene.inlet.url}/v1${path}`, {
        headers: { "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      });
    const early = (await rest("/approvals", { signal: "early", prompt: "Before the run waits?", timeout: "1h" })).body.data;
    assert.equal((await rest(`/approvals/${early.id}`, { decision: "rejected", comment: "kept" })).status, 200);
    await scene.begin();
    const { runId, asks } = await scene.app.next();
    await asks("WaitForApproval", "ask", { prompt: "Go on?", timeout: "1h" });
    const step = await until("the wait", async () => (await rest(`/runs/${runId}`)).body.data.steps[0]);
    const approved = { method: "POST", body: new URLSearchParams({ decision: "approved", comment: "once" }) };
    assert.equal((await call(step.url, approved)).status, 200);
    await scene.kill();
    // The run may have been resumed before the kill.
    for (let n = scene.app.waiting; n > 0; n--) await scene.app.next();
    await scene.restart();
    const again = await rest(`/approvals/${step.approvalId}`, { decision: "rejected" });
    assert.deepEqual([again.status, again.body.code], [409, "approval_ended"]);

    const resumed = await scene.app.next();
    assert.deepEqual(resumed.done, ["ask"]);
    await resumed.asks("WaitForSignal", "kept", { signal: "early", timeout: "1h" });
    const last = await scene.app.next();
    assert.deepEqual(last.done, ["ask", "kept"], "a decision made before the crash, and before the run waits, is not lost");
    await last.finish("done");
    const { steps } = await scene.ended(runId);
    const { output } = steps[0];
    assert.deepEqual([output.decision, output.by, output.comment], ["approved", "link", "once"]);
    assert.deepEqual([steps[1].output.data.decision, steps[1].output.data.comment], ["rejected", "kept"]);
    for (const name of ["requested", "decided"])
      assert.equal((await rest(`/events?name=inlet/approval.${name}`)).body.data.length, 2, `each is reported once: ${name}`);
  },

  "a bulk cancellation is under way": async (scene) => {
    const send = (path: string, body: unknown, headers = {}) =>
      call(`${scene.inlet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    const count = async (list: string) => {
      let found = 0;
      for (let cursor: string | null = ""; cursor !== null; ) {
        const { body } = await call(`${scene.inlet.url}/v1/${list}&limit=100${cursor && `&cursor=${cursor}`}`);
        found += body.data.length;
        cursor = body.page.next;
      }
      return found;
    };
    // On a busy machine, it may be done before the kill: then once more.
    for (let round = 1; ; round++) {
      await send("/e/key", Array(RUNS_CANCELLED).fill({ name: "bare/begin", data: {} }));
      for (let n = 0; n < RUNS_CANCELLED; n++) await (await scene.app.next()).asks("Sleep", "nap", { duration: "1h" });
      await until("sleeping runs", async () => ((await count("runs?status=sleeping")) === RUNS_CANCELLED ? true : undefined));
      const wanted = { app_id: "bare", function_id: "function", started_before: new Date().toISOString() };
      assert.equal((await send("/v1/cancellations", wanted, { "x-inngest-sdk": "bare", "content-type": "application/json" })).status, 200);
      await scene.kill();
      const [left] = (await queryStore(scene, "SELECT count(*) AS sleeping FROM runs WHERE ended_at IS NULL")) as { sleeping: unknown }[];
      await scene.restart();
      await until("the rest", async () => ((await count("runs?status=cancelled")) === round * RUNS_CANCELLED ? true : undefined));
      assert.equal(await count("events?name=inngest/function.cancelled"), round * RUNS_CANCELLED, "each was cancelled once");
      if (Number(left?.sleeping) > 0) return;
      assert.ok(round < ROUNDS_MAX, "it was killed in the middle");
    }
  },
};

test("crash points", async (t) => {
  // One service for all: a start costs more than a case.
  const scene = await startOneRun(t, { retryInterval: "1s" });
  for (const [point, crash] of Object.entries(POINTS)) await t.test(point, (each) => crash(scene, each));
});

/** From here on. */
function countCalls({ app }: OneRun): () => number {
  const before = app.calls;
  return () => app.calls - before;
}

/** An API that answers when the test wants it to. */
async function startHeldApi(t: TestContext) {
  const held: ServerResponse[] = [];
  const api = { url: "", requests: 0, next: () => until("a request", () => held.shift()) };
  const server = createServer((_request, response) => {
    api.requests++;
    held.push(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  api.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return api;
}
