/** Registered functions, for tests. */

import assert from "node:assert/strict";
import type { AppNo, EnvironmentId, FunctionNo } from "@inlet/protocol";
import { type RegisteredFunction, Registry } from "../../src/fan-out/registry.ts";
import type { App, AppStore, StoredFunction } from "../../src/store/contract/index.ts";

/** The numbers of a function, its app and its environment are the same: that of its settings in the list, from 1. */
export async function sampleRegistry(...functions: object[]): Promise<Registry> {
  const step = { id: "step", name: "step", runtime: { type: "http", url: "http://127.0.0.1/x" } };
  const numbered = functions.map((settings, index) => ({ settings, no: index + 1 }));
  const apps = numbered.map(({ no }) => ({ no: no as AppNo, environmentId: no as EnvironmentId, removedAt: null }) as App);
  const stored = numbered.map(({ settings, no }) => {
    const config = JSON.stringify({ id: "app-fn", name: "fn", triggers: [{ event: "x/y" }], steps: { step }, ...settings });
    return {
      no: no as FunctionNo,
      appNo: no as AppNo,
      environmentId: no as EnvironmentId,
      id: "app-fn",
      name: "fn",
      config,
      archivedAt: null,
      limits: null,
    } as StoredFunction;
  });
  const registry = new Registry({ appList: async () => apps, functionList: async () => stored } as unknown as AppStore);
  await registry.refresh();
  return registry;
}

export function sampleFunction(registry: Registry, no = 1): RegisteredFunction {
  const registered = registry.function(no as FunctionNo);
  assert.ok(registered, "its settings can be read");
  return registered;
}
