import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleFunction, sampleRegistry } from "../../test/support/sample-registry.ts";
import type { EventValue } from "./expressions.ts";
import { gateOfLane, keyHashed, keyText, laneOf, orderKeyOf, rulesOfLane } from "./lanes.ts";
import type { Registry } from "./registry.ts";

const CALLS_PER_APP = 50;
const CALLS = { perApp: CALLS_PER_APP, ofEnvironment: () => null };
const EVENT = { name: "x/y", data: { user: "ada", n: 1 }, ts: 1 } as EventValue;
/** Shows where a hash is used. */
const hash = (key: string) => `#${key}`;

/** A function in each of two environments, with the same settings: number 1 in environment 1, number 2 in environment 2. */
function registryOf(concurrency?: object): Promise<Registry> {
  const settings = concurrency ? { concurrency } : {};
  return sampleRegistry(settings, settings);
}

function laneIn(registry: Registry, environment: number, event = EVENT): string {
  return laneOf(sampleFunction(registry, environment), () => event, hash);
}

function limitsIn(registry: Registry, environment: number, event = EVENT) {
  return rulesOfLane(registry, laneIn(registry, environment, event), CALLS).limits;
}

const APP_LIMIT = { id: "app:1", cap: CALLS_PER_APP };

test("a function without limits stands in the lane of its app", async () => {
  const registry = await registryOf();
  assert.equal(laneIn(registry, 1), "app:1");
  assert.deepEqual(rulesOfLane(registry, "app:1", CALLS), { limits: [], app: APP_LIMIT });
  const limited = await registryOf({ limit: 3 });
  assert.deepEqual(rulesOfLane(limited, "app:1", CALLS).limits, [], "whatever functions of the same number limit");
});

test("a limit of an environment is one for its functions, and another one in every other environment", async () => {
  const registry = await registryOf({ limit: 3, scope: "env", key: '"mail"' });
  const [[first], [second]] = [limitsIn(registry, 1), limitsIn(registry, 2)];
  assert.deepEqual([first?.cap, second?.cap], [3, 3]);
  assert.deepEqual(rulesOfLane(registry, laneIn(registry, 1), CALLS).app, APP_LIMIT);
  assert.notEqual(first?.id, second?.id);
});

test("a limit of the account is one for functions of every environment", async () => {
  const registry = await registryOf({ limit: 3, scope: "account", key: '"mail"' });
  assert.deepEqual([limitsIn(registry, 1)[0], limitsIn(registry, 2)[0]], Array(2).fill({ id: 'account:"mail":#"mail"', cap: 3 }));
});

test("a limit of a function is its own, by the value of its key", async () => {
  const registry = await registryOf({ limit: 3, key: "event.data.user" });
  const of = (environment: number, user?: unknown) => limitsIn(registry, environment, { ...EVENT, data: { user } } as EventValue)[0]?.id;
  assert.equal(new Set([of(1, "ada"), of(1, "bob"), of(2, "ada"), of(1, 5), of(1, "5")]).size, 5);
  assert.equal(of(1, "ada"), of(1, "ada"));
  for (const nothing of [undefined, null, false]) assert.equal(of(1, nothing), undefined, `a key that is ${nothing} limits nothing`);
  const colon = "a:1:[b]";
  assert.deepEqual(limitsIn(registry, 1, { ...EVENT, data: { user: colon } } as EventValue)[0], {
    id: `fn:1:event.data.user:#${JSON.stringify(colon)}`,
    cap: 3,
  });
});

test("of two limits of the same thing the lower one holds", async () => {
  const registry = await registryOf([
    { limit: 2, key: "event.data.user" },
    { limit: 1, key: "event.data.user" },
  ]);
  assert.deepEqual(
    limitsIn(registry, 1).map(({ cap }) => cap),
    [1],
  );
});

test("a limit of runs makes a gate, with slots for each value of its key, before the function's own lane", async () => {
  const registry = await registryOf({ fn: [{ limit: 2, key: "event.data.user" }], step: [{ limit: 5 }] });
  const lane = laneIn(registry, 1);
  const gate = gateOfLane(registry, lane);
  assert.deepEqual([gate?.limit, gate?.home], [{ id: 'runs:1:event.data.user:#"ada"', cap: 2 }, lane.replace("gate:", "fn:")]);
  assert.equal(gateOfLane(registry, gate?.home ?? ""), null);
  assert.deepEqual(rulesOfLane(registry, gate?.home ?? "", CALLS).limits, [{ id: "fn:1::", cap: 5 }], "runs are counted at the gate");
  assert.notEqual(gateOfLane(registry, laneIn(registry, 2))?.limit?.id, gate?.limit?.id);
});

test("a gate whose function has no limit of runs any more admits everyone", async () => {
  const lane = laneIn(await registryOf({ fn: [{ limit: 2 }] }), 1);
  for (const now of [await registryOf(), await registryOf({ limit: 1 })]) assert.equal(gateOfLane(now, lane)?.limit, null);
  assert.equal(gateOfLane(await registryOf(), "gate:9:[null]")?.limit, null, "nor is a function that is gone in the way");
});

test("runs of a limit without a key share its slots", async () => {
  const registry = await registryOf({ fn: [{ limit: 2 }] });
  assert.deepEqual(gateOfLane(registry, laneIn(registry, 1))?.limit, { id: "runs:1::", cap: 2 });
});

test("a throttle makes a gate for each value of its key, and without limits the app's lane comes after it", async () => {
  const settings = { throttle: { limit: 1, period: "1s", key: "event.data.user" } };
  const registry = await sampleRegistry(settings, settings);
  const gateFor = (environment: number, user: string) =>
    gateOfLane(registry, laneIn(registry, environment, { ...EVENT, data: { user } } as EventValue));
  const gate = gateFor(1, "ada");
  assert.deepEqual([gate?.limit, gate?.throttle?.key, gate?.home], [null, 'event.data.user:#"ada"', "app:1"]);
  assert.equal(gate?.name, gateFor(1, "ada")?.name);
  assert.equal(new Set([gate?.name, gateFor(1, "bob")?.name, gateFor(2, "ada")?.name]).size, 3);
  assert.deepEqual(gate?.throttle?.admit(1_000)(null, 3).count, 1);
});

test("limits of runs and throttles whose key is null, false or without a value admit everyone", async () => {
  const runs = await registryOf({ fn: [{ limit: 2, key: "event.data.none" }] });
  assert.equal(gateOfLane(runs, laneIn(runs, 1))?.limit, null);
  const settings = { throttle: { limit: 1, period: "1s", key: "event.data.none" } };
  const throttled = await sampleRegistry(settings, settings);
  assert.equal(gateOfLane(throttled, laneIn(throttled, 1))?.throttle, null);
});

test("a limit without a key that is set after a run was created counts all runs together, whatever other limits the lane has values of", async () => {
  const throttle = { limit: 1, period: "1s", key: "event.data.user" };
  const homes = async (user: string) => {
    const lane = laneIn(await sampleRegistry({ throttle }), 1, { ...EVENT, data: { user } } as EventValue);
    return gateOfLane(await sampleRegistry({ throttle, concurrency: { limit: 2 } }), lane)?.home ?? "";
  };
  const limited = await sampleRegistry({ throttle, concurrency: { limit: 2 } });
  for (const user of ["ada", "bob"])
    assert.deepEqual(rulesOfLane(limited, await homes(user), CALLS).limits, [{ id: "fn:1::", cap: 2 }], "calls");
  const runs = { fn: [{ limit: 2, key: "event.data.user" }] };
  const throttled = await sampleRegistry({ concurrency: runs, throttle: { limit: 1, period: "1s" } });
  const waiting = laneIn(await registryOf(runs), 1);
  assert.equal(gateOfLane(throttled, waiting)?.throttle?.key, ":", "starts");
  const one = await sampleRegistry({ throttle, concurrency: { fn: [{ limit: 1 }] } });
  assert.equal(gateOfLane(one, laneIn(await sampleRegistry({ throttle }), 1))?.limit?.id, "runs:1::", "runs");
});

test("a lane of a function that is gone has no limits", async () => {
  assert.deepEqual(rulesOfLane(await registryOf(), "fn:9:[null]", CALLS).limits, []);
});

test("the value of a key as text tells values apart, and those without one not", () => {
  assert.deepEqual(
    ["event.data.user", "event.data.n", "event.data.none", "1 +", "null", "false", '""'].map((expression) => keyText(expression, EVENT)),
    ['"ada"', "1", "", "", "", "", '""'],
  );
});

test("a key is stored as a hash, and one without a value as nothing; of an order, the beginning of the text is shown", async () => {
  assert.deepEqual([keyHashed("event.data.user", EVENT, hash), keyHashed("event.data.none", EVENT, hash)], ['#"ada"', ""]);
  const registry = await sampleRegistry({ ordering: { key: "event.data.user" } });
  const orderOf = (user: string) => orderKeyOf(sampleFunction(registry), () => ({ ...EVENT, data: { user } }) as EventValue, hash);
  assert.deepEqual(orderOf("ada"), { key: '#"ada"', text: '"ada"' });
  const long = orderOf("a".repeat(300));
  assert.deepEqual([long?.key, long?.text], [`#"${"a".repeat(300)}"`, `"${"a".repeat(198)}…`]);
  const lane = laneOf(sampleFunction(registry), () => EVENT, hash);
  assert.deepEqual([lane, gateOfLane(registry, lane)?.orderKey], [`order:1:${JSON.stringify(['#"ada"'])}`, '#"ada"']);
});

test("the calls of an environment are limited together, whatever its functions limit", async () => {
  const registry = await registryOf({ limit: 5 });
  const calls = { perApp: CALLS_PER_APP, ofEnvironment: (id: number) => (id === 1 ? 3 : null) };
  assert.deepEqual(rulesOfLane(registry, "app:1", calls).limits, [{ id: "calls:1", cap: 3 }]);
  assert.deepEqual(rulesOfLane(registry, laneIn(registry, 1), calls).limits.at(-1), { id: "calls:1", cap: 3 });
});
