import assert from "node:assert/strict";
import { test } from "node:test";
import type { App, AppStore, StoredFunction } from "../store/contract/index.ts";
import { Registry } from "./registry.ts";

const APP = { no: 1, environmentId: 1, name: "shop", removedAt: null, error: null };
const FUNCTION = {
  no: 7,
  appNo: 1,
  environmentId: 1,
  id: "shop-fn",
  name: "fn",
  archivedAt: null,
  pausedAt: null,
  limits: null,
  config: JSON.stringify({
    id: "shop-fn",
    name: "fn",
    triggers: [{ event: "go" }],
    steps: { step: { runtime: { url: "http://127.0.0.1/" } } },
  }),
};

test("listeners learn of each read whether an app or a function changed", async () => {
  let [app, fn] = [APP, FUNCTION] as [object, object];
  const store = { appList: async () => [{ ...app } as App], functionList: async () => [{ ...fn } as StoredFunction] };
  const registry = new Registry(store as unknown as AppStore);
  const heard: boolean[] = [];
  registry.onRefresh((hasChanged) => void heard.push(hasChanged));
  await registry.refresh();
  await registry.refresh();
  fn = { ...FUNCTION, pausedAt: 5 };
  await registry.refresh();
  app = { ...APP, removedAt: 6 };
  await registry.refresh();
  await registry.refresh();
  assert.deepEqual(heard, [true, false, true, true, false]);
  assert.equal(registry.apps().length, 0, "what changed is shown");
});
