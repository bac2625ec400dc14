import assert from "node:assert/strict";
import { test } from "node:test";
import type { FunctionNo } from "@inlet/protocol";
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

test("a function that another node has registered is living before this one has read of it; one that is archived is not", async () => {
  let stored = FUNCTION as object;
  const store = { appList: async () => [{ ...APP } as unknown as App], functionList: async () => [{ ...stored } as StoredFunction] };
  const registry = new Registry(store as unknown as AppStore);
  const living = async () => (await registry.livingFunction(FUNCTION.no as FunctionNo))?.id ?? null;
  assert.equal(await living(), "shop-fn");
  stored = { ...FUNCTION, archivedAt: 5 };
  await registry.refresh();
  assert.equal(await living(), null);
  stored = FUNCTION;
  assert.equal(await living(), "shop-fn", "it has come back");
});
