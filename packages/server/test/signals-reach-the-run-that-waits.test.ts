/** A signal reaches the run that waits for it: after a crash of the service, on whichever node it is sent, and only with the right key. */

import assert from "node:assert/strict";
import { type TestContext, test as testOnce } from "node:test";
import { hasEnded, poll, runsOf, startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { migratedDatabase, whyNoPostgres } from "./support/postgres.ts";
import { call, SIGNING_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";

async function startWaiter(t: TestContext, service: TestService) {
  return startApp(t, service, (inlet) => [
    inlet.createFunction({ id: "approve" }, { event: "shop/ordered" }, ({ event, step }) =>
      step.waitForSignal("approval", { signal: `approve ${event.data.order}`, timeout: event.data.timeout ?? "1h" }),
    ),
    inlet.createFunction({ id: "tell" }, { event: "shop/tell" }, async ({ event, step }) => [
      await step.sendSignal("yes", { signal: `approve ${event.data.order}`, data: { by: "Ada" } }),
      await step.sendSignal("again", { signal: `approve ${event.data.order}` }),
    ]),
  ]);
}

async function waitingRun(service: TestService, data: object) {
  const { body } = await service.send({ name: "shop/ordered", data });
  // A wait with a short timeout may be over before anybody looks.
  const [run] = await runsOf(service, body.ids[0], { until: (shown) => shown.status === "waiting" || hasEnded(shown) });
  return { run, ended: async () => (await runsOf(service, body.ids[0]))[0] };
}

const signal = (service: TestService, name: string, data: unknown = null) =>
  service.rest("POST", "/signals", { body: { signal: name, data } });

test("a signal is sent by REST, by a client and by a step; one that nobody waits for is 404 and not kept", async (t) => {
  const service = await startTestService(t);
  const { client } = await startWaiter(t, service);
  const early = await signal(service, "approve 1", "too early");
  assert.deepEqual([early.status, early.body.code], [404, "signal_not_found"]);
  const first = await waitingRun(service, { order: 1 });
  const { status, body } = await signal(service, "approve 1", { by: "REST" });
  assert.deepEqual([status, body.data], [200, { runId: first.run.id }]);
  assert.deepEqual((await first.ended()).output, { signal: "approve 1", data: { by: "REST" } });

  const second = await waitingRun(service, { order: 2 });
  assert.deepEqual(await client.sendSignal({ signal: "approve 2", data: [1] }), { runId: second.run.id });
  assert.deepEqual(await client.sendSignal({ signal: "approve 2" }), { runId: null });
  assert.deepEqual((await second.ended()).output, { signal: "approve 2", data: [1] });

  const exact = await waitingRun(service, { order: "exact" });
  await service.rest("POST", "/signals", { body: '{"signal": "approve exact", "data": {"ledger": 9007199254740993}}' });
  await exact.ended();
  assert.match((await service.rest("GET", `/runs/${exact.run.id}`)).text, /"ledger": ?9007199254740993/);

  const third = await waitingRun(service, { order: 3 });
  const told = await service.send({ name: "shop/tell", data: { order: 3 } });
  assert.deepEqual((await third.ended()).output.data, { by: "Ada" });
  assert.deepEqual((await runsOf(service, told.body.ids[0]))[0].output, [{ runId: third.run.id }, { runId: null }]);
});

test("a signal and its timeout come at once: the step has one of the two", async (t) => {
  const service = await startTestService(t);
  await startWaiter(t, service);
  const runs = await Promise.all(
    Array.from({ length: 12 }, async (_, order) => {
      const run = await waitingRun(service, { order, timeout: "1s" });
      const untilMs = Date.parse(run.run.steps[0].until) - Date.now() - 15 + order * 3;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, untilMs)));
      return { sent: await signal(service, `approve ${order}`, order), ended: await run.ended() };
    }),
  );
  for (const { sent, ended } of runs) {
    assert.equal(ended.status, "completed");
    assert.equal(ended.output === null, sent.status === 404, JSON.stringify([sent.body, ended.output]));
  }
});

test("keys: roles that may repair, and an app's signing key, in the environment named; nobody else", async (t) => {
  const service = await startTestService(t);
  await startWaiter(t, service);
  const { run } = await waitingRun(service, { order: 1 });
  const send = (bearer: string, headers = {}) =>
    call(`${service.url}/v1/signals`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}`, "content-type": "application/json", ...headers },
      body: JSON.stringify({ signal: "approve 1" }),
    });
  const keyOf = async (role: string) =>
    (await service.rest("POST", "/keys", { body: { kind: "api", name: role, role } })).body.data.key as string;
  assert.equal((await send(await keyOf("viewer"))).body.code, "role_forbidden");
  assert.equal((await send("nonsense")).status, 401);
  await service.rest("POST", "/environments", { body: { name: "staging" } });
  assert.equal((await send(SIGNING_KEY, { "x-inngest-env": "staging" })).status, 404, "nobody waits there");
  assert.deepEqual((await send(SIGNING_KEY)).body, { data: { run_id: run.id } }, "in the shape of the published SDKs");
  assert.equal((await send(await keyOf("operator"))).status, 404, "it has been sent");
  const { body } = await service.rest("GET", "/audit-log?action=signal.*");
  assert.deepEqual(body.data, [], "apps leave nothing in the audit log");
  assert.equal((await service.rest("POST", "/signals", { body: { signal: "x".repeat(257) } })).status, 400);
});

test("a wait survives a stop of the service, and so does a signal that was taken", async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await startTestService(t, { dataDir });
  const app = await startWaiter(t, first);
  const { run } = await waitingRun(first, { order: 1 });
  await app.stop();
  await first.stop();
  const second = await startTestService(t, { dataDir });
  // Its app is away: the run cannot go on before the next stop.
  assert.equal((await signal(second, "approve 1", "kept")).status, 200);
  await second.stop();
  const third = await startTestService(t, { dataDir, flags: ["--retry-interval", "50ms"] });
  await startWaiter(t, third);
  const ended = await poll(async () => {
    const { body } = await third.rest("GET", `/runs/${run.id}`);
    return body.data.status === "completed" ? body.data : null;
  }, "the run");
  assert.deepEqual(ended.output, { signal: "approve 1", data: "kept" });
});

testOnce("a signal that is sent to one node resumes a run of another, once", { skip: whyNoPostgres() ?? false }, async (t) => {
  const databaseUrl = await migratedDatabase(t);
  const [here, there] = [await startTestService(t, { databaseUrl }), await startTestService(t, { databaseUrl })];
  await startWaiter(t, here);
  for (let order = 0; order < 10; order++) {
    const { run, ended } = await waitingRun(here, { order });
    const answers = await Promise.all([here, there, here, there].map((node, n) => signal(node, `approve ${order}`, n)));
    const taken = answers.filter(({ status }) => status === 200);
    assert.deepEqual(
      taken.map(({ body }) => body.data.runId),
      [run.id],
    );
    assert.equal((await ended()).output.data, answers.indexOf(taken[0] as never));
  }
});
