/**
 * The service is killed at each point of a call's life, one case for each: whatever had been kept by then is not done again,
 * and nothing else is lost. What happens at random moments is runs-survive-crashes.test.ts's business.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { AppCall } from "./support/bare-app.ts";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { type OneRun, startOneRun } from "./support/one-run.ts";
import { until } from "./support/runs.ts";
import { type Answer, call } from "./support/service.ts";
import { queryStore } from "./support/store-contents.ts";

const RUNS_CANCELLED = 150;
const ROUNDS_MAX = 10;

const NAMES = (run: { steps: { name: string; status: string }[] }) => run.steps.map(({ name, status }) => `${name} ${status}`);

/** A run that has come to its point. */
interface AtPoint {
  /** Brings it there, when all others have: the crash follows at once. */
  last?(): Promise<unknown>;
  /** What happens while the process is stopped: it reads nothing more, and is killed then. */
  stopped?(): Promise<void>;
  /** What must hold after the restart. */
  after(): Promise<void>;
}

/** One run for each point of its life, all of which see the same crash: a start costs more than a case. */
const POINTS: Record<string, (scene: Scene, t: TestContext) => Promise<AtPoint>> = {
  "the event is acknowledged, and its run not called": async (scene) => {
    let eventId = "";
    return {
      async last() {
        eventId = await scene.begin();
      },
      async after() {
        const runId = await scene.runOf(eventId);
        // The first call may have gone out before the kill.
        const before = scene.callsBefore(runId);
        await (await scene.app.next(runId)).finish("done");
        assert.equal((await scene.ended(runId)).status, "completed");
        assert.equal(scene.calls(runId), before + 1);
      },
    };
  },

  "the app has the call, and has not answered": async (scene) => {
    const { runId } = await scene.firstCall();
    return {
      async after() {
        const again = await scene.app.next(runId);
        assert.deepEqual([again.done, again.attempt], [[], 0], "the same call again: a crash of the service is not the function's failure");
        await again.finish("done");
        assert.equal((await scene.ended(runId)).status, "completed");
        assert.equal(scene.calls(runId), 2);
      },
    };
  },

  "the response has arrived, and is not committed": async (scene) => {
    const first = await scene.firstCall();
    const { runId } = first;
    return {
      // The response is in the socket of the process and nowhere else.
      stopped: () => first.ranStep("a"),
      async after() {
        const again = await scene.app.next(runId);
        assert.deepEqual(again.done, [], "what was not kept is asked for again");
        await again.ranStep("a");
        const next = await scene.app.next(runId);
        assert.deepEqual(next.done, ["a"]);
        await next.finish("done");
        assert.deepEqual(NAMES(await scene.ended(runId)), ["a completed"]);
        assert.equal(scene.calls(runId), 3, "the step that crossed the crash ran twice");
      },
    };
  },

  "a step is committed, and the next call is on its way": async (scene) => {
    const { runId, ranStep } = await scene.firstCall();
    await ranStep("a");
    await scene.app.next(runId);
    return {
      async after() {
        const again = await scene.app.next(runId);
        assert.deepEqual(again.done, ["a"], "what was kept comes with the call");
        await again.finish("done");
        assert.deepEqual(NAMES(await scene.ended(runId)), ["a completed"]);
        assert.equal(scene.calls(runId), 3);
      },
    };
  },

  "a step was handed in while its call went on": async (scene) => {
    const { runId, dispatch } = await scene.firstCall();
    const handIn = (from: string, id: string) => {
      const body = { qi_id: from, steps: [{ op: "StepRun", id, name: id, displayName: id, data: 1 }] };
      return call(`${scene.inlet.url}/v1/checkpoint/${runId}/async`, { method: "POST", body: JSON.stringify(body) });
    };
    assert.equal((await handIn(dispatch, "a")).status, 200);
    return {
      async after() {
        const again = await scene.app.next(runId);
        assert.deepEqual(again.done, ["a"], "it counts though its call never ended");
        const late = await handIn(dispatch, "b");
        assert.deepEqual([late.status, late.body.code], [409, "call_superseded"], "the call before the crash is told to stop");
        assert.equal((await handIn(again.dispatch, "b")).status, 200);
        await again.finish("done");
        assert.deepEqual(NAMES(await scene.ended(runId)), ["a completed", "b completed"]);
        assert.equal(scene.calls(runId), 2);
      },
    };
  },

  "the run's end is committed": async (scene) => {
    const { runId, finish } = await scene.firstCall();
    await finish("done");
    const ended = await scene.ended(runId);
    return {
      async after() {
        assert.deepEqual(await scene.ended(runId), ended);
        assert.equal(scene.calls(runId), 1);
      },
    };
  },

  "the request of a step is on its way": async (scene, t) => {
    const api = await startHeldApi(t);
    const { runId, asks } = await scene.firstCall();
    await asks("Gateway", "fetch", { url: api.url, method: "GET" });
    await api.next();
    return {
      async after() {
        (await api.next()).end("the answer");
        const last = await scene.app.next(runId);
        assert.deepEqual(last.done, ["fetch"]);
        await last.finish("done");
        const run = await scene.ended(runId);
        assert.deepEqual(NAMES(run), ["fetch completed"]);
        assert.deepEqual([run.steps[0].output.body, run.steps[0].attempts], ["the answer", 1]);
        assert.equal(api.requests, 2, "made again: nobody knows whether the first was answered");
        const stored = run.calls.filter(({ stepId }: { stepId: string | null }) => stepId === "fetch");
        assert.equal(stored.length, 1, "its result is stored once");
      },
    };
  },

  "a signal was accepted, and its run not resumed": async (scene) => {
    const signal = { signal: "approve", data: { by: "Ada" } };
    const { runId, asks } = await scene.firstCall();
    await asks("WaitForSignal", "approval", { signal: "approve", timeout: "1h" });
    await until("the wait", async () => ((await scene.rest(`/runs/${runId}`)).body.data.status === "waiting" ? true : undefined));
    return {
      async last() {
        assert.equal((await scene.rest("/signals", signal)).status, 200);
      },
      async after() {
        assert.equal((await scene.rest("/signals", signal)).status, 404, "it was delivered, once");
        const resumed = await scene.app.next(runId);
        assert.deepEqual(resumed.done, ["approval"]);
        await resumed.finish("done");
        const run = await scene.ended(runId);
        assert.deepEqual(NAMES(run), ["approval completed"]);
        assert.deepEqual(run.steps[0].output.data, { by: "Ada" });
      },
    };
  },

  "an approval was decided, and its run not resumed": async (scene) => {
    const early = (await scene.rest("/approvals", { signal: "early", prompt: "Before the run waits?", timeout: "1h" })).body.data;
    assert.equal((await scene.rest(`/approvals/${early.id}`, { decision: "rejected", comment: "kept" })).status, 200);
    const { runId, asks } = await scene.firstCall();
    await asks("WaitForApproval", "ask", { prompt: "Go on?", timeout: "1h" });
    const step = await until("the wait", async () => (await scene.rest(`/runs/${runId}`)).body.data.steps[0]);
    const approved = { method: "POST", body: new URLSearchParams({ decision: "approved", comment: "once" }) };
    return {
      async last() {
        assert.equal((await call(step.url, approved)).status, 200);
      },
      async after() {
        const again = await scene.rest(`/approvals/${step.approvalId}`, { decision: "rejected" });
        assert.deepEqual([again.status, again.body.code], [409, "approval_ended"]);
        const resumed = await scene.app.next(runId);
        assert.deepEqual(resumed.done, ["ask"]);
        await resumed.asks("WaitForSignal", "kept", { signal: "early", timeout: "1h" });
        const last = await scene.app.next(runId);
        assert.deepEqual(last.done, ["ask", "kept"], "a decision made before the crash, and before the run waits, is not lost");
        await last.finish("done");
        const { steps } = await scene.ended(runId);
        const { output } = steps[0];
        assert.deepEqual([output.decision, output.by, output.comment], ["approved", "link", "once"]);
        assert.deepEqual([steps[1].output.data.decision, steps[1].output.data.comment], ["rejected", "kept"]);
        for (const name of ["requested", "decided"])
          assert.equal((await scene.rest(`/events?name=inlet/approval.${name}`)).body.data.length, 2, `each is reported once: ${name}`);
      },
    };
  },

  // The last one, so that its time has not come when all are at their points.
  "a retry waits for its time": async (scene) => {
    const { runId, fail } = await scene.firstCall();
    await fail(500);
    await until("the attempt", async () => ((await scene.rest(`/runs/${runId}`)).body.data.attempts.length > 0 ? true : undefined));
    return {
      async after() {
        const again = await scene.app.next(runId);
        assert.equal(again.attempt, 1, "the attempt before the crash counts");
        await again.finish("done");
        assert.equal((await scene.ended(runId)).status, "completed");
      },
    };
  },
};

test("crash points", async (t) => {
  const scene = sceneOf(await startOneRun(t, { retryInterval: "1s" }));
  const runs: [point: string, run: AtPoint][] = [];
  for (const [point, prepare] of Object.entries(POINTS)) {
    await t.test(`before the crash: ${point}`, async () => void runs.push([point, await prepare(scene, t)]));
  }
  await Promise.all(runs.map(([, run]) => run.last?.()));
  scene.inlet.child.kill("SIGSTOP");
  for (const [, run] of runs) await run.stopped?.();
  await scene.crash();
  for (const [point, run] of runs) await t.test(`after the crash: ${point}`, () => run.after());

  await t.test("a bulk cancellation is under way", () => crashDuringCancellation(scene));
});

async function crashDuringCancellation(scene: Scene): Promise<void> {
  const send = (path: string, body: unknown, headers = {}) =>
    call(`${scene.inlet.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  const count = async (list: string) => {
    let found = 0;
    for (let cursor: string | null = ""; cursor !== null; ) {
      const { body } = await scene.rest(`/${list}&limit=100${cursor && `&cursor=${cursor}`}`);
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
}

interface Scene extends OneRun {
  /** Begins a run, and returns its first call. */
  firstCall(): Promise<AppCall>;
  runOf(eventId: string): Promise<string>;
  rest(path: string, body?: object): Promise<Answer>;
  /** Calls of a run so far, and of those the ones before the crash. */
  calls(runId: string): number;
  callsBefore(runId: string): number;
  /** Kills the service and starts it again. What the app was sent before is of no use any more. */
  crash(): Promise<void>;
}

function sceneOf(one: OneRun): Scene {
  const calls = new Map<string, number>();
  let before = new Map<string, number>();
  one.app.onCall = (runId) => calls.set(runId, (calls.get(runId) ?? 0) + 1);
  const scene: Scene = Object.assign(one, {
    async firstCall() {
      return one.app.next(await scene.runOf(await one.begin()));
    },
    runOf: (eventId: string): Promise<string> =>
      until("the run", async () => (await scene.rest(`/events/${eventId}/runs`)).body.data[0]?.id),
    rest: (path: string, body?: object) =>
      call(`${one.inlet.url}/v1${path}`, {
        headers: { "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) }),
      }),
    calls: (runId: string) => calls.get(runId) ?? 0,
    callsBefore: (runId: string) => before.get(runId) ?? 0,
    async crash() {
      await one.kill();
      before = new Map(calls);
      for (let n = one.app.waiting; n > 0; n--) await one.app.next();
      await one.restart();
    },
  });
  return scene;
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
