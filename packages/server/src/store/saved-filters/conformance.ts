import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import { SAVED_FILTERS_MAX } from "../contract/index.ts";

export function savedFilterConformance(engine: Engine): void {
  test(`${engine.name}: filters are saved under a name, replaced and removed, so many of each list`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const [environment, other] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const of = { environmentId: environment.id };
    const filter = { list: "runs", name: "a \\ \0", search: '{"q":"é😀\\u0000"}', savedBy: "Ada", savedAt: 1 } as const;
    assert.equal(await store.savedFilterSet({ ...of, ...filter, search: "{}" }), true);
    assert.equal(await store.savedFilterSet({ ...of, ...filter }), true);
    const others = Array.from({ length: SAVED_FILTERS_MAX - 1 }, (_, n) => ({ ...of, ...filter, name: `n${n}` }));
    for (const one of others) await store.savedFilterSet(one);
    assert.equal(await store.savedFilterSet({ ...of, ...filter, name: "one more" }), false);
    assert.equal(await store.savedFilterSet({ ...of, ...filter, savedAt: 2 }), true, "it is replaced");
    assert.equal(await store.savedFilterSet({ ...of, ...filter, list: "events" }), true, "of another list");
    for (const { name } of others) assert.equal(await store.savedFilterDelete({ ...of, list: "runs", name }), true);
    assert.equal(await store.savedFilterDelete({ ...of, list: "runs", name: "n0" }), false);
    const again = await reopen();
    assert.deepEqual(await again.savedFilterList(of), [
      { ...filter, list: "events" },
      { ...filter, savedAt: 2 },
    ]);
    assert.deepEqual(await again.savedFilterList({ environmentId: other.id }), []);
  });
}
