import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { ActivityStore } from "../contract/index.ts";

const HOUR_MS = 3_600_000;

export function activityConformance(engine: Engine): void {
  test(`${engine.name}: activity adds up by hour, each subject of each environment for itself`, async (t) => {
    const { store } = await engine.open(t);
    const [here, there] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const event = (subject: string, environment = here) => ({ environmentId: environment.id, kind: "event", subject }) as const;
    const add = (subject: string, at: number, parts: number, lastAt: number, environment = here) =>
      store.activityAdd({ hours: [{ ...event(subject, environment), at, parts, lastAt }] });
    await add("shop/paid", HOUR_MS, 0b01, HOUR_MS + 5);
    await add("shop/paid", HOUR_MS, 0b10, HOUR_MS + 2);
    await add("shop/paid", 3 * HOUR_MS, 1 << 29, 3 * HOUR_MS + 7);
    await add("shop/%", 2 * HOUR_MS, 1, 2 * HOUR_MS);
    await add("bank/paid\u0000", 9 * HOUR_MS, 1, 9 * HOUR_MS);
    await add("shop/paid", 8 * HOUR_MS, 1, 8 * HOUR_MS, there);
    await store.activityAdd({ hours: [{ environmentId: here.id, kind: "webhook", subject: "shop/paid", at: 0, parts: 4, lastAt: 4 }] });

    const list = (subject: string, since = 0, limit = 10): ReturnType<ActivityStore["activityList"]> =>
      store.activityList({ ...event(subject), since, limit });
    const paid = [
      { at: HOUR_MS, parts: 0b11, lastAt: HOUR_MS + 5 },
      { at: 3 * HOUR_MS, parts: 1 << 29, lastAt: 3 * HOUR_MS + 7 },
    ];
    assert.deepEqual(await list("shop/paid"), paid);
    assert.deepEqual(await list("shop/paid", 0, 1), paid.slice(1), "the latest");
    assert.deepEqual(await list("shop/paid", 2 * HOUR_MS), paid.slice(1));
    assert.deepEqual(
      (await list("shop/*")).map(({ at }) => at / HOUR_MS),
      [1, 2, 3],
    );
    assert.deepEqual(
      (await list("shop/%*")).map(({ at }) => at / HOUR_MS),
      [2],
      "a sign of patterns stands for itself",
    );
    assert.deepEqual((await list("bank/paid\u0000")).length, 1);
    const last = (subject: string, since = 0) => store.activityLast({ ...event(subject), since });
    assert.deepEqual(await Promise.all([last("shop/paid"), last("shop/*"), last("shop/gone"), last("shop/paid", 4 * HOUR_MS)]), [
      3 * HOUR_MS + 7,
      3 * HOUR_MS + 7,
      null,
      null,
    ]);

    assert.equal(await store.activityExpireMany({ until: 2 * HOUR_MS, limit: 2 }), 2);
    assert.equal(await store.activityExpireMany({ until: 2 * HOUR_MS, limit: 2 }), 1);
    assert.deepEqual(await list("shop/*"), paid.slice(1));
  });
}
