/** What a function says about how many of its runs start, when, and in what order, holds. With an app of the published SDK. */

import assert from "node:assert/strict";
import { serveApp, syncApp } from "./support/apps/app-server.ts";
import { V4 } from "./support/apps/sdk-v4.ts";
import { suite, test } from "./support/both-stores.ts";
import { deploy, Gate, held, numbered, setUp, setUpMany } from "./support/flow-control.ts";
import { clockBeforeMinute } from "./support/held-clock.ts";
import { endedRun, isEnded, runDetails, runsOfEvent, runsOfFunction, until } from "./support/runs.ts";
import { EVENT_KEY, startTestService } from "./support/service.ts";

// Most of the time is spent waiting for periods to pass.
suite("flow control", { concurrency: 6 }, () => {
  test("throttle: starts are put off, none is dropped", async (t) => {
    const { send, ended, service } = await setUp(t, { throttle: { limit: 2, period: "1s" } }, () => null);
    const [first] = await send(numbered(4));
    const starts = (await ended(4)).map(({ startedAt }) => Date.parse(startedAt ?? "")).sort((one, other) => one - other);
    assert.equal(starts.length, 4);
    // By the clock of the service: that of a database may be known to it less exactly than to us.
    const receivedAt = Date.parse((await service.rest("GET", `/events/${first}`)).body.data.receivedAt);
    starts.forEach((at, i) => {
      assert.ok(at - receivedAt >= i * 500, `the starts are half a second apart, but ${i} came after ${at - receivedAt} ms`);
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

  test("a throttle or rate limit that a deploy raises holds at once, for runs that wait, too", async (t) => {
    const functions = (throttle: object, rateLimit: object) => [
      { id: "fn", options: { throttle }, handler: () => null },
      { id: "dropping", options: { rateLimit }, handler: () => null },
    ];
    const once = { limit: 1, period: "1h" };
    const { send, ended, client, service } = await setUpMany(t, functions(once, once));
    const ofDropping = async () => (await runsOfFunction(service, "app-dropping")).filter(isEnded).length;
    await send(numbered(2));
    await ended(1);
    await until("the first", async () => (await ofDropping()) === 1 || undefined);
    await deploy(t, service, client, functions({ limit: 100, period: "1s" }, { limit: 100, period: "1s" }));
    await ended(2);
    await send({ n: 2 });
    await ended(3);
    await until("the one after the deploy", async () => (await ofDropping()) >= 2 || undefined);
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
    const { send, ended, service } = await setUp(t, { debounce: { period: "6s", key: "event.data.key" } }, ({ event }) => event.data);
    for (const n of [1, 2, 3]) await send([{ key: "a", n }, { key: "b", n }, { n }, { key: null, n }]);
    const runs = await ended(3);
    const outputs = await Promise.all(runs.map(({ id }) => runDetails(service, id)));
    const expected = ["a3", "b3", "null3"];
    assert.deepEqual(outputs.map(({ output }) => `${output.key}${output.n}`).sort(), expected, "those without a key share one");
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
    const { send, ended, service } = await setUp(t, { batchEvents: { maxSize: 3, timeout: "1h", key: "event.data.key" } }, ({ events }) =>
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
    const { send } = await setUp(t, { batchEvents: { maxSize: 7, timeout: "1h" } }, ({ events }) => {
      seen.push(...events.map(({ data }) => data.n as number));
      sizes.push(events.length);
    });
    // Full batches only: none waits for its time.
    const all = numbered(98);
    for (let i = 0; i < all.length; i += 25) await send(all.slice(i, i + 25));
    await until("all of them", () => (seen.length >= all.length ? true : undefined));
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
      { id: "late", options: { timeouts: { start: "15s" }, concurrency: 1 }, handler: held(gate) },
    ]);
    const [first] = await send([{ n: 1 }]);
    await gate.full(1);
    const [second] = await send([{ n: 2 }]);
    const finish = await endedRun(service, first as string, "app-fn");
    assert.deepEqual([finish.status, finish.error?.message], ["cancelled", "It did not end within the timeout of its function."]);
    const start = await endedRun(service, second as string, "app-late");
    assert.deepEqual([start.status, start.error?.message], ["cancelled", "It did not start within the timeout of its function."]);
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
