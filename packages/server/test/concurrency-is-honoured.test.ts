/** How many of a function's steps and runs there are at a time is what it says. With an app of the published SDK. */

import assert from "node:assert/strict";
import { suite, test } from "./support/both-stores.ts";
import { deploy, Gate, held, numbered, setUp, setUpMany } from "./support/flow-control.ts";
import { isEnded, runsOfFunction, until } from "./support/runs.ts";
import { startTestService } from "./support/service.ts";

// Most of the time is spent waiting for periods to pass.
suite("concurrency", { concurrency: 6 }, () => {
  test("concurrency: so many steps at a time and no more, and all of them in the end", async (t) => {
    const gate = new Gate();
    const { send, ended } = await setUp(t, { concurrency: 2 }, held(gate));
    await send(numbered(6));
    await gate.full(2);
    // Of two calls that are made at the same time, either may arrive first.
    assert.deepEqual([...gate.order].sort(), ["0", "1"]);
    for (let called = 3; called <= 6; called++) {
      gate.letOneGo();
      await until("the next", () => (gate.order.length === called ? true : undefined));
    }
    gate.open();
    await ended(6);
    assert.equal(gate.most, 2);
    assert.deepEqual(gate.order.slice(2), ["2", "3", "4", "5"], "first come, first served");
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

  test("concurrency of runs: places and those who wait for them survive a restart", async (t) => {
    const gate = new Gate();
    const { send, service, runs } = await setUp(t, { concurrency: { fn: [{ limit: 1 }] } }, async ({ event, step }) => {
      await step.sleep("nap", event.data.n === 0 ? "10s" : "1s");
      await gate.pass(`${event.data.n}`);
    });
    await send(numbered(3));
    await until("the first sleeps", async () => ((await runs()).some(({ status }) => status === "sleeping") ? true : undefined));
    await service.stop();
    const again = await startTestService(t, { mode: "dev", dataDir: service.dataDir });
    await gate.full(1);
    gate.open();
    await until("all", async () => ((await runsOfFunction(again, "app-fn")).filter(isEnded).length === 3 ? true : undefined));
    // On a machine so busy that a lease is not renewed in time, a call is made again.
    assert.deepEqual([[...new Set(gate.order)], gate.most], [["0", "1", "2"], 1]);
  });
});
