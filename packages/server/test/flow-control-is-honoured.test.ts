/** What a function says about how many of its runs start, when, and in what order, holds. With an app of the published SDK. */

import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { serveApp, syncApp } from "./support/apps/app-server.ts";
import type { Client, Context, Handler, SentEvent } from "./support/apps/published-sdk.ts";
import { V4 } from "./support/apps/sdk-v4.ts";
import { clockBeforeMinute } from "./support/held-clock.ts";
import { endedRun, isEnded, runDetails, runsOfEvent, runsOfFunction, type ShownRun, until } from "./support/runs.ts";
import { EVENT_KEY, startTestService, type TestService } from "./support/service.ts";

/** A folder can be opened again; of a database each service gets its own here. */
const isShared = process.env.TEST_STORE === "postgres";

/** Lets calls in, counts them, and holds them until the test lets them go. */
class Gate {
  readonly order: string[] = [];
  most = 0;
  #inside: (() => void)[] = [];
  #isOpen = false;

  async pass(name: string): Promise<void> {
    this.order.push(name);
    if (this.#isOpen) return;
    await new Promise<void>((resolve) => {
      this.#inside.push(resolve);
      this.most = Math.max(this.most, this.#inside.length);
    });
  }

  get inside(): number {
    return this.#inside.length;
  }

  /** Waits until so many are held. */
  full(count: number): Promise<true> {
    return until(`${count} calls at the gate`, () => (this.inside >= count ? (true as const) : undefined));
  }

  letOneGo(): void {
    this.#inside.shift()?.();
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#inside.splice(0)) go();
  }
}

interface Setup {
  service: TestService;
  client: Client;
  send(data: object | object[], name?: string): Promise<string[]>;
  runs(): Promise<ShownRun[]>;
  /** Waits until so many runs have ended, and returns all. */
  ended(count: number): Promise<ShownRun[]>;
}

/** One function `fn` with these settings, started by app/go. */
async function setUp(t: TestContext, options: Record<string, unknown>, handler: Handler): Promise<Setup> {
  return setUpMany(t, [{ id: "fn", options, handler }]);
}

interface TestFunction {
  id: string;
  options: Record<string, unknown>;
  handler: Handler;
}

async function setUpMany(t: TestContext, functions: TestFunction[]): Promise<Setup> {
  const service = await startTestService(t, { mode: "dev", flags: ["--retry-interval", "20ms"] });
  const client = V4.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true });
  await deploy(t, service, client, functions);
  const runs = () => runsOfFunction(service, "app-fn");
  return {
    service,
    client,
    async send(data, name = "app/go") {
      const events = (Array.isArray(data) ? data : [data]).map((one): SentEvent => ({ name, data: one }));
      return (await client.send(events)).ids;
    },
    runs,
    ended: (count) =>
      until(`${count} ended runs`, async () => {
        const found = await runs();
        return found.filter(isEnded).length >= count ? found : undefined;
      }),
  };
}

/** Serves the app with these functions, and registers it; again, if it was. */
async function deploy(t: TestContext, service: TestService, client: Client, functions: TestFunction[]): Promise<void> {
  const served = functions.map(({ id, options, handler }) => client.createFunction({ id, ...options }, [{ event: "app/go" }], handler));
  const app = await serveApp(t, V4.listener(client, served));
  await syncApp(service, app.url);
}

const numbered = (count: number, more: object = {}) => Array.from({ length: count }, (_, n) => ({ n, ...more }));
const held =
  (gate: Gate) =>
  async ({ event }: Context) => {
    await gate.pass(`${event.data.key ?? ""}${event.data.n ?? ""}`);
  };

// Most of the time is spent waiting for periods to pass.
suite("flow control", { concurrency: 6 }, () => {
  test("concurrency: so many steps at a time and no more, and all of them in the end", async (t) => {
    const gate = new Gate();
    const { send, ended } = await setUp(t, { concurrency: 2 }, held(gate));
    await send(numbered(6));
    await gate.full(2);
    gate.letOneGo();
    await until("the next", () => (gate.order.length === 3 ? true : undefined));
    gate.open();
    await ended(6);
    assert.equal(gate.most, 2);
    assert.deepEqual(gate.order, ["0", "1", "2", "3", "4", "5"], "first come, first served");
  });

  test("concurrency by key: each key has its own places", async (t) => {
    const gate = new Gate();
    const { send, ended } = await setUp(t, { concurrency: { limit: 1, key: "event.data.key" } }, held(gate));
    await send([...numbered(3, { key: "a" }), ...numbered(3, { key: "b" })]);
    await gate.full(2);
    assert.deepEqual([...gate.order].sort(), ["a0", "b0"]);
    gate.open();
    await ended(6);
    assert.equal(gate.most, 2);
  });

  test("concurrency of the environment: functions share the places of a key", async (t) => {
    const gate = new Gate();
    const options = { concurrency: { limit: 1, key: '"shared"', scope: "env" } };
    const { send, service } = await setUpMany(t, [
      { id: "fn", options, handler: held(gate) },
      { id: "other", options, handler: held(gate) },
    ]);
    await send(numbered(2));
    await gate.full(1);
    for (let passed = 1; passed <= 4; passed++) {
      await until("the next", () => (gate.order.length === passed && gate.inside === 1 ? true : undefined));
      gate.letOneGo();
    }
    const all = async () => [...(await runsOfFunction(service, "app-fn")), ...(await runsOfFunction(service, "app-other"))];
    await until("all", async () => ((await all()).filter(isEnded).length === 4 ? true : undefined));
    assert.equal(gate.most, 1);
  });

  test("concurrency: two limits hold together, and a sleeping run holds no place", async (t) => {
    const gate = new Gate();
    const concurrency = [{ limit: 2 }, { limit: 1, key: "event.data.key" }];
    const { send, ended } = await setUp(t, { concurrency }, async ({ event, step }) => {
      await step.sleep("nap", "1s");
      await step.run("held", () => gate.pass(`${event.data.key}${event.data.n}`));
    });
    await send([...numbered(2, { key: "a" }), ...numbered(2, { key: "b" }), ...numbered(2, { key: "c" })]);
    await gate.full(2);
    assert.equal(new Set(gate.order.map((name) => name[0])).size, 2, `one of a key: ${gate.order}`);
    gate.open();
    await ended(6);
    assert.equal(gate.most, 2);
  });

  test("concurrency of runs: a run holds its place until it has ended, even while it sleeps; limits of steps hold beside it", async (t) => {
    const gate = new Gate();
    const concurrency = { fn: [{ limit: 1, key: "event.data.key" }], step: [{ limit: 2 }] };
    const under = new Map<string, number>();
    const { send, ended } = await setUp(t, { concurrency }, async ({ event, step }) => {
      const { key, n } = event.data;
      await step.run("enter", () => {
        under.set(key, (under.get(key) ?? 0) + 1);
        assert.equal(under.get(key), 1, "one run of a key at a time");
      });
      await step.sleep("nap", "200ms");
      await step.run("held", () => gate.pass(`${key}${n}`));
      await step.run("leave", () => void under.set(key, 0));
    });
    await send([...numbered(3, { key: "a" }), ...numbered(3, { key: "b" }), ...numbered(2, { key: "c" })]);
    await gate.full(2);
    gate.open();
    const runs = await ended(8);
    assert.deepEqual(new Set(runs.map(({ status }) => status)), new Set(["completed"]));
    assert.equal(gate.most, 2, "two steps at a time");
    for (const key of ["a", "b", "c"]) {
      const order = gate.order.filter((name) => name.startsWith(key));
      assert.deepEqual(order, [...order].sort(), "first come, first served");
    }
  });

  test("concurrency of runs: a cancelled run gives its place away, one cancelled at the gate needs none, and more places let more in", async (t) => {
    const gate = new Gate();
    const options = { concurrency: { fn: [{ limit: 1 }] }, cancelOn: [{ event: "app/stop", match: "data.n" }] };
    const { send, runs, service, client } = await setUp(t, options, held(gate));
    await send(numbered(4));
    await gate.full(1);
    await send({ n: 1 }, "app/stop");
    await until("it is cancelled", async () => ((await runs()).some(({ status }) => status === "cancelled") ? true : undefined));
    assert.deepEqual(gate.order, ["0"]);
    await send({ n: 0 }, "app/stop");
    await until("the next but one", () => (gate.order.length === 2 ? true : undefined));
    assert.deepEqual(gate.order, ["0", "2"]);
    await deploy(t, service, client, [{ id: "fn", options: { ...options, concurrency: { fn: [{ limit: 2 }] } }, handler: held(gate) }]);
    await until("the last", () => (gate.order.length === 3 ? true : undefined));
    gate.open();
  });

  test("concurrency of runs: places and those who wait for them survive a restart", { skip: isShared }, async (t) => {
    const gate = new Gate();
    const { send, service, runs } = await setUp(t, { concurrency: { fn: [{ limit: 1 }] } }, async ({ event, step }) => {
      await step.sleep("nap", "1s");
      await gate.pass(`${event.data.n}`);
    });
    await send(numbered(3));
    await until("the first sleeps", async () => ((await runs()).some(({ status }) => status === "sleeping") ? true : undefined));
    await service.stop();
    const again = await startTestService(t, { mode: "dev", dataDir: service.dataDir });
    await gate.full(1);
    gate.open();
    await until("all", async () => ((await runsOfFunction(again, "app-fn")).filter(isEnded).length === 3 ? true : undefined));
    assert.deepEqual([gate.order, gate.most], [["0", "1", "2"], 1]);
  });

  test("throttle: starts are put off, none is dropped", async (t) => {
    const starts: number[] = [];
    const { send, ended } = await setUp(t, { throttle: { limit: 2, period: "1s" } }, () => void starts.push(Date.now()));
    const sentAt = Date.now();
    await send(numbered(4));
    await ended(4);
    assert.equal(starts.length, 4);
    starts.forEach((at, i) => {
      assert.ok(at - sentAt >= i * 500, `the starts are half a second apart, but ${i} came after ${at - sentAt} ms`);
    });
  });

  test("rate limit: what is too much for its key is dropped", async (t) => {
    const { send, runs, ended, service } = await setUp(t, { rateLimit: { limit: 1, period: "1h", key: "event.data.key" } }, () => null);
    await send([{ key: "a" }, { key: "a" }, { key: "b" }, { key: "a" }]);
    await ended(2);
    // One more start, of a key of its own, shows that all before it were decided on.
    const [last] = await send({ key: "c" });
    await endedRun(service, last as string);
    assert.equal((await runs()).length, 3);
  });

  test("idempotency: one run for each value, whatever the events' ids", async (t) => {
    const { send, runs, service } = await setUp(t, { idempotency: "event.data.order" }, ({ event }) => event.data);
    const [first] = await send({ order: "o-1", n: 1 });
    await endedRun(service, first as string);
    await send([
      { order: "o-1", n: 2 },
      { order: "o-1", n: 3 },
    ]);
    const [other] = await send({ order: "o-2", n: 4 });
    await endedRun(service, other as string);
    const outputs = await Promise.all((await runs()).map(({ id }) => runDetails(service, id)));
    assert.deepEqual(outputs.map(({ output }) => output.n).sort(), [1, 4]);
  });

  test("debounce: the last event of a key is run, once it is quiet", async (t) => {
    const { send, ended, service } = await setUp(t, { debounce: { period: "1s", key: "event.data.key" } }, ({ event }) => event.data);
    for (const n of [1, 2, 3])
      await send([
        { key: "a", n },
        { key: "b", n },
      ]);
    const runs = await ended(2);
    const outputs = await Promise.all(runs.map(({ id }) => runDetails(service, id)));
    assert.deepEqual(outputs.map(({ output }) => `${output.key}${output.n}`).sort(), ["a3", "b3"]);
  });

  test("debounce: events that keep coming put a run off no longer than its timeout", async (t) => {
    const { send, runs } = await setUp(t, { debounce: { period: "30s", timeout: "1s" } }, ({ event }) => event.data);
    const first = Date.now();
    let n = 0;
    await until("a run", async () => {
      await send({ n: n++ });
      return (await runs()).find(isEnded);
    });
    const waited = Date.now() - first;
    assert.ok(waited >= 1_000, `ran after ${waited} ms`);
    assert.ok(n > 1);
  });

  test("batch: events are gathered by key until there are enough, and every event shows its run", async (t) => {
    const { send, ended, service } = await setUp(t, { batchEvents: { maxSize: 3, timeout: "20s", key: "event.data.key" } }, ({ events }) =>
      events.map(({ data }) => data.n),
    );
    const ids = await send([...numbered(3, { key: "a" }), { key: "b", n: 9 }]);
    const [run] = await ended(1);
    assert.ok(run);
    assert.deepEqual((await runDetails(service, run.id)).output, [0, 1, 2]);
    for (const id of ids.slice(0, 3)) {
      assert.deepEqual(
        (await runsOfEvent(service, id)).map((shown) => shown.id),
        [run.id],
      );
      const { body } = await service.rest("GET", `/events/${id}`);
      assert.deepEqual(body.data.runs, [{ id: run.id, status: "completed", function: { id: "app-fn", name: "fn" } }]);
    }
    assert.deepEqual(await runsOfEvent(service, ids[3] as string), []);
    const again = await service.rest("POST", `/runs/${run.id}/rerun`);
    const repeated = await until("the repetition", async () => {
      const shown = await runDetails(service, again.body.data.id);
      return isEnded(shown) ? shown : undefined;
    });
    assert.deepEqual([repeated.output, repeated.originalRunId], [[0, 1, 2], run.id]);
  });

  test("batch: what was gathered starts when its time is over; events that may not be gathered run alone", async (t) => {
    const batchEvents = { maxSize: 100, timeout: "1s", if: "event.data.n < 10" };
    const { send, ended, service } = await setUp(t, { batchEvents }, ({ events }) => events.map(({ data }) => data.n));
    await send([{ n: 1 }, { n: 10 }, { n: 2 }]);
    const runs = await ended(2);
    const outputs = await Promise.all(runs.map(({ id }) => runDetails(service, id)));
    assert.deepEqual(outputs.map(({ output }) => output).sort(), [[1, 2], [10]]);
  });

  test("batch: many events, all of them in exactly one batch", async (t) => {
    const seen: number[] = [];
    const sizes: number[] = [];
    const { send } = await setUp(t, { batchEvents: { maxSize: 7, timeout: "1s" } }, ({ events }) => {
      seen.push(...events.map(({ data }) => data.n as number));
      sizes.push(events.length);
    });
    const all = numbered(100);
    for (let i = 0; i < all.length; i += 25) await send(all.slice(i, i + 25));
    await until("all of them", () => (seen.length >= 100 ? true : undefined));
    assert.deepEqual(
      [...seen].sort((a, b) => a - b),
      all.map(({ n }) => n),
    );
    assert.ok(sizes.every((size) => size <= 7) && sizes.filter((size) => size === 7).length === 14, `${sizes}`);
  });

  test("priority: what is more urgent overtakes what waits", async (t) => {
    const gate = new Gate();
    const { send, ended } = await setUp(t, { concurrency: 1, priority: { run: "event.data.urgency" } }, held(gate));
    await send({ key: "first", urgency: 0 });
    await gate.full(1);
    await send([
      { key: "low", urgency: -100 },
      { key: "normal", urgency: 0 },
      { key: "high", urgency: 100 },
      { key: "highest", urgency: 600 },
    ]);
    gate.open();
    await ended(5);
    assert.deepEqual(gate.order, ["first", "highest", "high", "normal", "low"]);
  });

  test("singleton, skip: while a run of the key is there, others are not started", async (t) => {
    const gate = new Gate();
    const { send, runs, ended, service } = await setUp(t, { singleton: { mode: "skip", key: "event.data.key" } }, held(gate));
    await send({ key: "a", n: 1 });
    await gate.full(1);
    await send([
      { key: "a", n: 2 },
      { key: "b", n: 1 },
    ]);
    await gate.full(2);
    gate.open();
    await ended(2);
    const [third] = await send({ key: "a", n: 3 });
    await endedRun(service, third as string);
    assert.deepEqual([...gate.order].sort(), ["a1", "a3", "b1"]);
    assert.equal((await runs()).length, 3);
  });

  test("singleton, cancel: a new run takes the place of the one there", async (t) => {
    const { send, service } = await setUp(t, { singleton: { mode: "cancel", key: "event.data.key" } }, async ({ step, event }) => {
      if (event.data.n === 1) await step.sleep("long", "1h");
      return event.data.n;
    });
    const [first] = await send({ key: "a", n: 1 });
    await until("sleeping", async () => ((await runsOfEvent(service, first as string))[0]?.status === "sleeping" ? true : undefined));
    const [second] = await send({ key: "a", n: 2 });
    assert.equal((await endedRun(service, second as string)).output, 2);
    assert.equal((await endedRun(service, first as string)).status, "cancelled");
  });

  test("timeouts: a run that takes too long, or starts too late, is cancelled; one that began in time is not", async (t) => {
    const gate = new Gate();
    const { send, service } = await setUpMany(t, [
      { id: "fn", options: { timeouts: { finish: "1s" } }, handler: ({ step }) => step.sleep("long", "1h") },
      { id: "late", options: { timeouts: { start: "1s" }, concurrency: 1 }, handler: held(gate) },
    ]);
    const [first, second] = await send([{ n: 1 }, { n: 2 }]);
    const finish = await endedRun(service, first as string, "app-fn");
    assert.deepEqual([finish.status, finish.error?.message], ["cancelled", "It did not end within the time its function allows."]);
    const start = await endedRun(service, second as string, "app-late");
    assert.deepEqual([start.status, start.error?.message], ["cancelled", "It did not start within the time its function allows."]);
    gate.open();
    assert.equal((await endedRun(service, first as string, "app-late")).status, "completed");
    assert.deepEqual(gate.order, ["1"], "the run that was cancelled was never called");
  });

  test("an invocation keeps to the rules of the function it starts, and learns if that was not started", async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const client = V4.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true });
    const starts: number[] = [];
    const slow = client.createFunction({ id: "slow", throttle: { limit: 1, period: "1s" } }, [{ event: "app/none" }], () =>
      starts.push(Date.now()),
    );
    const rare = client.createFunction({ id: "rare", rateLimit: { limit: 1, period: "1h" } }, [{ event: "app/none" }], () => "once");
    const caller = client.createFunction({ id: "fn" }, [{ event: "app/go" }], async ({ step }) => {
      const first = await step.invoke("first", { function: slow, data: {} });
      const second = await step.invoke("second", { function: slow, data: {} });
      const third = await step.invoke("third", { function: rare, data: {} });
      const fourth = await step.invoke("fourth", { function: rare, data: {} }).catch((error: Error) => error.message);
      return [first, second, third, fourth];
    });
    const app = await serveApp(t, V4.listener(client, [slow, rare, caller]));
    await syncApp(service, app.url);
    const sentAt = Date.now();
    const { ids } = await client.send({ name: "app/go", data: {} });
    const { output } = await endedRun(service, ids[0] as string);
    assert.deepEqual(output.slice(0, 3), [1, 2, "once"]);
    assert.match(output[3], /as often as its rate limit allows/);
    const lastMs = (starts[1] ?? 0) - sentAt;
    assert.ok(lastMs >= 1_000, `the second may start a second after the first, but came after ${lastMs} ms`);
  });

  test("schedules keep to the rules about starts as well", async (t) => {
    const clock = clockBeforeMinute();
    const service = await startTestService(t, { mode: "dev", now: clock.now });
    const client = V4.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: true });
    const triggers = [{ cron: "* * * * *" }, { cron: "*/1 * * * *" }];
    const fn = client.createFunction({ id: "fn", singleton: { mode: "skip" } }, triggers, ({ step }) => step.sleep("nap", "5m"));
    const app = await serveApp(t, V4.listener(client, [fn]));
    await syncApp(service, app.url);
    clock.go();
    await until("both ticks", async () => {
      const { body } = await service.rest("GET", "/events?name=inngest/scheduled.timer");
      return body.data.length === 2 ? true : undefined;
    });
    const run = await until("the run", async () => (await runsOfFunction(service, "app-fn")).find(({ status }) => status === "sleeping"));
    assert.match(run.cron ?? "", /^[*]/);
    assert.equal((await runsOfFunction(service, "app-fn")).length, 1);
  });
});
