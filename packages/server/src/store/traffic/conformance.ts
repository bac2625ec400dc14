import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { TrafficFigures } from "../contract/index.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

function figures(accepted: number, changes: Partial<TrafficFigures> = {}): TrafficFigures {
  return { accepted, duplicates: 0, refused: 0, runsStarted: 0, runsCompleted: 0, runsFailed: 0, ...changes };
}

export function trafficConformance(engine: Engine): void {
  test(`${engine.name}: traffic adds up by minute, hour and day, each environment for itself`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const add = (at: number, accepted: number, changes = {}, environment = here) =>
      store.trafficAdd({ minutes: [{ environmentId: environment.id, at, figures: figures(accepted, changes) }] });
    await add(HOUR_MS, 1);
    await add(HOUR_MS + 59_999, 2, { refused: 4, runsFailed: 1 });
    await add(HOUR_MS + MINUTE_MS, 3);
    await add(2 * HOUR_MS, 5);
    await add(HOUR_MS, 100, {}, there);
    const list = (intervalMs: number, from = 0, to = 24 * HOUR_MS) => store.trafficList({ environmentId: here.id, from, to, intervalMs });
    assert.deepEqual(await list(MINUTE_MS, HOUR_MS, 2 * HOUR_MS), [
      { at: HOUR_MS, figures: figures(3, { refused: 4, runsFailed: 1 }) },
      { at: HOUR_MS + MINUTE_MS, figures: figures(3) },
    ]);
    assert.deepEqual(await list(HOUR_MS), [
      { at: HOUR_MS, figures: figures(6, { refused: 4, runsFailed: 1 }) },
      { at: 2 * HOUR_MS, figures: figures(5) },
    ]);
    assert.deepEqual(await list(24 * HOUR_MS), [{ at: 0, figures: figures(11, { refused: 4, runsFailed: 1 }) }]);

    assert.equal(await store.trafficExpireMany({ minutesUntil: HOUR_MS, hoursUntil: 0, limit: 10 }), 2);
    assert.equal((await list(MINUTE_MS)).length, 2);
    assert.equal((await list(HOUR_MS)).length, 2);
    assert.equal(await store.trafficExpireMany({ minutesUntil: 0, hoursUntil: HOUR_MS, limit: 1 }), 1);
  });
}
