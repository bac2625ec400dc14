import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventValue } from "./expressions.ts";
import { gateOfLane, keyText, laneOf, limitsOfLane } from "./lanes.ts";
import type { Registry } from "./registry.ts";
import { sampleFunction, sampleRegistry } from "./sample-registry.ts";

const CALLS_PER_APP = 50;
const EVENT = { name: "x/y", data: { user: "ada", n: 1 }, ts: 1 } as EventValue;

/** A function in each of two environments, with the same settings: number 1 in environment 1, number 2 in environment 2. */
function registryOf(concurrency?: object): Promise<Registry> {
  const settings = concurrency ? { concurrency } : {};
  return sampleRegistry(settings, settings);
}

function laneIn(registry: Registry, environment: number, event = EVENT): string {
  return laneOf(sampleFunction(registry, environment), () => event);
}

function limitsIn(registry: Registry, environment: number, event = EVENT) {
  return limitsOfLane(registry, laneIn(registry, environment, event), CALLS_PER_APP);
}

const APP_LIMIT = { id: "app:1", cap: CALLS_PER_APP };

test("a function without limits stands in the lane of its app", async () => {
  const registry = await registryOf();
  assert.equal(laneIn(registry, 1), "app:1");
  assert.deepEqual(limitsIn(registry, 1), [APP_LIMIT]);
  const limited = await registryOf({ limit: 3 });
  assert.deepEqual(limitsOfLane(limited, "app:1", CALLS_PER_APP), [APP_LIMIT], "whatever functions of the same number limit");
});

test("a limit of an environment is one for its functions, and another one in every other environment", async () => {
  const registry = await registryOf({ limit: 3, scope: "env", key: '"mail"' });
  const [[first, app], [second]] = [limitsIn(registry, 1), limitsIn(registry, 2)];
  assert.deepEqual([first?.cap, second?.cap, app], [3, 3, APP_LIMIT]);
  assert.notEqual(first?.id, second?.id);
});

test("a limit of the account is one for functions of every environment", async () => {
  const registry = await registryOf({ limit: 3, scope: "account", key: '"mail"' });
  assert.deepEqual([limitsIn(registry, 1)[0], limitsIn(registry, 2)[0]], Array(2).fill({ id: 'account:"mail":"mail"', cap: 3 }));
});

test("a limit of a function is its own, by the value of its key", async () => {
  const registry = await registryOf({ limit: 3, key: "event.data.user" });
  const of = (environment: number, user?: unknown) => limitsIn(registry, environment, { ...EVENT, data: { user } } as EventValue)[0]?.id;
  assert.equal(new Set([of(1, "ada"), of(1, "bob"), of(2, "ada"), of(1, 5), of(1, "5")]).size, 5);
  assert.equal(of(1, "ada"), of(1, "ada"));
  assert.equal(of(1), of(1, undefined), "what has no value shares one");
  const colon = "a:1:[b]";
  assert.deepEqual(limitsIn(registry, 1, { ...EVENT, data: { user: colon } } as EventValue)[0], {
    id: `fn:1:event.data.user:${JSON.stringify(colon)}`,
    cap: 3,
  });
});

test("a limit of runs makes a gate, with a place for each value of its key, before the function's own lane", async () => {
  const registry = await registryOf({ fn: [{ limit: 2, key: "event.data.user" }], step: [{ limit: 5 }] });
  const lane = laneIn(registry, 1);
  const gate = gateOfLane(registry, lane);
  assert.deepEqual([gate?.cap, gate?.place, gate?.home], [2, '1:event.data.user:"ada"', lane.replace("gate:", "fn:")]);
  assert.equal(gateOfLane(registry, gate?.home ?? ""), null);
  assert.deepEqual(
    limitsOfLane(registry, gate?.home ?? "", CALLS_PER_APP),
    [{ id: "fn:1::", cap: 5 }, APP_LIMIT],
    "runs are counted at the gate",
  );
  assert.notEqual(gateOfLane(registry, laneIn(registry, 2))?.place, gate?.place);
});

test("a gate whose function has no limit of runs any more lets everyone in", async () => {
  const lane = laneIn(await registryOf({ fn: [{ limit: 2 }] }), 1);
  for (const now of [await registryOf(), await registryOf({ limit: 1 })]) assert.equal(gateOfLane(now, lane)?.cap, Number.MAX_SAFE_INTEGER);
  const { cap, place } = gateOfLane(await registryOf(), "gate:9:[null]") ?? {};
  assert.deepEqual([cap, place], [Number.MAX_SAFE_INTEGER, "9::"], "nor is a function that is gone in the way");
});

test("runs of a limit without a key share one place", async () => {
  const registry = await registryOf({ fn: [{ limit: 2 }] });
  assert.equal(gateOfLane(registry, laneIn(registry, 1))?.place, "1::");
});

test("a lane of a function that is gone has no limits", async () => {
  assert.deepEqual(limitsOfLane(await registryOf(), "fn:9:[null]", CALLS_PER_APP), []);
});

test("the value of a key as text tells values apart, and those without one not", () => {
  assert.deepEqual(
    ["event.data.user", "event.data.n", "event.data.none", "1 +", "null"].map((expression) => keyText(expression, EVENT)),
    ['"ada"', "1", "", "", "null"],
  );
});
