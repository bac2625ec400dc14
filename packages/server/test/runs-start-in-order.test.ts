/**
 * `ordering`: runs of one key start in the order in which their events were accepted, one at a time, while other keys go on; a failure
 * lets the next run start or holds up the key, until the run is rerun or released; a crash changes nothing of it. Several nodes are simulation/'s.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { startApp } from "./support/app.ts";
import { test } from "./support/both-stores.ts";
import { freePort } from "./support/free-port.ts";
import { onEnd } from "./support/on-end.ts";
import { startInlet } from "./support/process.ts";
import { endedRun, isEnded, runDetails, runsOfFunction, until } from "./support/runs.ts";
import { call, startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";

type OnFailure = "continue" | "hold";

interface Scene {
  service: TestService;
  /** `begin c1` and `end c1`, as the app saw them. */
  log: string[];
  /** Events for which the function throws. */
  failing: Set<string>;
  send(...names: string[]): Promise<string[]>;
}

async function open(t: TestContext, onFailure: OnFailure, changes: { ts?: number } = {}): Promise<Scene> {
  const service = await startTestService(t);
  const log: string[] = [];
  const failing = new Set<string>();
  await startApp(t, service, (inlet) => [
    inlet.createFunction(
      { id: "bill", retries: 0, ordering: { key: "event.data.customerId", onFailure } },
      { event: "shop/order.created" },
      async ({ event, step }) => {
        const { n } = event.data as { n: string };
        await step.run("begin", () => void log.push(`begin ${n}`));
        await step.sleep("rest", "20ms");
        await step.run("end", () => {
          log.push(`end ${n}`);
          if (failing.has(n)) throw new Error(`no ${n}`);
        });
      },
    ),
  ]);
  return {
    service,
    log,
    failing,
    async send(...names) {
      const { body } = await service.send(
        names.map((n) => ({ name: "shop/order.created", data: { customerId: n[0], n }, ...(n === "a0" && changes) })),
      );
      return body.ids;
    },
  };
}

function of(log: readonly string[], customer: string): string[] {
  return log.filter((line) => line.split(" ")[1]?.startsWith(customer));
}

test("runs of a key start in the order accepted, one at a time; other keys go on beside them", async (t) => {
  const { send, log, service } = await open(t, "continue");
  const first = await send("a0", "b0", "a1", "b1");
  const second = await send("a2");
  await endedRun(service, second[0] as string);
  await endedRun(service, first[3] as string);
  assert.deepEqual(of(log, "a"), ["begin a0", "end a0", "begin a1", "end a1", "begin a2", "end a2"]);
  assert.deepEqual(of(log, "b"), ["begin b0", "end b0", "begin b1", "end b1"]);
  assert.ok(log.indexOf("begin b0") < log.indexOf("end a1"), "another key does not wait");
  assert.equal(((await runDetails(service, (await endedRun(service, second[0] as string)).id)) as { orderKey?: string }).orderKey, '"a"');
});

test("an event that is dated ahead is not overtaken by later ones of its key", async (t) => {
  const { send, log, service } = await open(t, "continue", { ts: Date.now() + 1_500 });
  const ids = await send("a0", "a1", "b0");
  await endedRun(service, ids[2] as string);
  await endedRun(service, ids[1] as string);
  assert.deepEqual(of(log, "a"), ["begin a0", "end a0", "begin a1", "end a1"]);
});

test("after a failure the next run starts, unless the function holds the key", async (t) => {
  const { send, log, failing, service } = await open(t, "continue");
  failing.add("a0");
  const [failed, next] = (await send("a0", "a1")) as [string, string];
  assert.equal((await endedRun(service, next)).status, "completed");
  assert.equal((await endedRun(service, failed)).status, "failed");
  assert.deepEqual(of(log, "a"), ["begin a0", "end a0", "begin a1", "end a1"]);
  assert.deepEqual((await service.rest("GET", "/holds")).body.data, []);
});

test("a key on hold waits until the failed run is rerun and completes; its rerun goes first", async (t) => {
  const { send, log, failing, service } = await open(t, "hold");
  failing.add("a0");
  const [failedEvent, nextEvent] = (await send("a0", "a1")) as [string, string];
  const failed = await endedRun(service, failedEvent);
  const { body } = await service.rest("GET", "/holds?function=shop-bill");
  assert.match(body.data[0].id, /^\d+$/);
  assert.deepEqual(
    body.data.map(({ heldAt: _, id: __, ...hold }: { heldAt: string; id: string }) => hold),
    [{ function: { id: "shop-bill", name: "bill" }, key: '"a"', runId: failed.id, waiting: 1 }],
  );
  const [other] = (await send("b0")) as [string];
  await endedRun(service, other);
  const again = await service.rest("POST", `/runs/${failed.id}/rerun`);
  const failedAgain = await until("the rerun to fail", async () => {
    const shown = await runDetails(service, again.body.data.id);
    return isEnded(shown) ? shown : undefined;
  });
  assert.equal(failedAgain.status, "failed");
  assert.deepEqual(of(log, "a"), ["begin a0", "end a0", "begin a0", "end a0"], "the next one waits on");
  failing.clear();
  assert.equal((await service.rest("POST", `/runs/${failedAgain.id}/rerun`)).status, 201);
  assert.equal((await endedRun(service, nextEvent)).status, "completed");
  assert.deepEqual(of(log, "a").slice(4), ["begin a0", "end a0", "begin a1", "end a1"]);
});

test("a key on hold goes on when it is released; what holds nothing cannot be released", async (t) => {
  const { send, failing, service } = await open(t, "hold");
  failing.add("a0");
  const [failedEvent, nextEvent] = (await send("a0", "a1")) as [string, string];
  const failed = await endedRun(service, failedEvent);
  const released = await service.rest("POST", `/runs/${failed.id}/release`);
  assert.deepEqual([released.status, released.body.data], [200, { runId: failed.id, key: '"a"' }]);
  const next = await endedRun(service, nextEvent);
  assert.equal(next.status, "completed");
  const again = await service.rest("POST", `/runs/${next.id}/release`);
  assert.deepEqual([again.status, again.body.code], [409, "run_holds_nothing"]);
  assert.equal((await service.rest("POST", "/runs/nothing/release")).status, 404);
  assert.equal((await runsOfFunction(service, "shop-bill")).length, 2);
});

test("the order of a key holds across a crash of the service", async (t) => {
  const { flags: store, passLeases } = await storeFlags(t, { dataDir: temporaryFolder(t) });
  const flags = ["--port", String(await freePort()), ...store, "--retry-interval", "200ms", "--log-level", "error"];
  const doomed = await startInlet(t, ["dev", ...flags]);
  const log: string[] = [];
  const client = new Inlet({ id: "shop", baseUrl: doomed.url, isDev: true });
  const ordered = { id: "bill", ordering: { key: "event.data.customerId" } };
  const [amid, crashed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // Some steps have run, and those that come next wait for the crash.
  const note = async (text: string) => {
    log.push(text);
    if (log.length < 7) return;
    amid.resolve();
    await crashed.promise;
  };
  const bill = client.createFunction(ordered, { event: "shop/order.created" }, async ({ event, step }) => {
    await step.run("begin", () => note(`begin ${event.data.n}`));
    await step.run("end", () => note(`end ${event.data.n}`));
  });
  const app = createServer(serve({ client, functions: [bill] }));
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => new Promise<void>((resolve) => void app.close(() => resolve()).closeAllConnections()));
  const headers = { "content-type": "application/json" };
  const url = `http://127.0.0.1:${(app.address() as AddressInfo).port}/api/inlet`;
  assert.equal((await call(`${doomed.url}/v1/apps`, { method: "POST", headers, body: JSON.stringify({ url }) })).status, 201);

  const names = Array.from({ length: 16 }, (_, n) => `${n % 2 === 0 ? "a" : "b"}${n}`);
  const events = names.map((n) => ({ name: "shop/order.created", data: { customerId: n[0], n } }));
  assert.equal((await call(`${doomed.url}/e/test`, { method: "POST", headers, body: JSON.stringify(events) })).status, 200);
  await amid.promise;
  await doomed.end("SIGKILL");
  crashed.resolve();
  assert.ok(log.length < names.length * 2, "the crash hit nothing");
  await passLeases();
  await startInlet(t, ["dev", ...flags]);
  await until("every run", () => (names.every((n) => log.includes(`end ${n}`)) ? true : undefined));
  for (const customer of ["a", "b"]) {
    const expected = names.filter((n) => n.startsWith(customer)).flatMap((n) => [`begin ${n}`, `end ${n}`]);
    // A crash repeats the step that it interrupted, before anything else of its key.
    const seen = of(log, customer).filter((line, at, all) => line !== all[at - 1]);
    assert.deepEqual(seen, expected);
  }
});
