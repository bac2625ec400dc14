import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { type Environment, StoreUnavailable } from "../contract/index.ts";
import type { MemberStore } from "./member.ts";
import { Placement, type PlacementParts } from "./placement.ts";
import { KEPT_LISTS } from "./store-methods.ts";

test("an environment whose row its database refused is copied with the next read", async (t) => {
  let environments = [{ id: 1 as EnvironmentId, name: "far", databaseNo: 1, archivedAt: null } as Environment];
  const copied = new Map<EnvironmentId, number | null>();
  let isRefusing = false;
  const stopped = { storeWatch: () => () => undefined, stop: async () => undefined };
  const directory = {
    ...stopped,
    environmentList: async () => environments,
    databaseList: async () => [{ no: 1, name: "second" }],
  } as unknown as MemberStore;
  const member = {
    ...stopped,
    ...Object.fromEntries(KEPT_LISTS.map((list) => [list, async () => []])),
    async environmentCopy(given: { environments: readonly Environment[] }) {
      if (isRefusing) throw new StoreUnavailable("timed out waiting for a lock");
      for (const { id, archivedAt } of given.environments) copied.set(id, archivedAt);
    },
  } as unknown as MemberStore;
  const life = { ask: async () => undefined, stop: () => undefined };
  const placement = new Placement({
    directory,
    directoryLife: life,
    open: async () => member,
    life: () => life,
    onAway: () => undefined,
    onReachable: () => undefined,
  } satisfies PlacementParts);
  t.after(() => placement.stop());
  await placement.start();
  assert.deepEqual([...copied], [[1, null]]);
  environments = environments.map((one) => ({ ...one, archivedAt: 5 }));
  isRefusing = true;
  await placement.refresh();
  assert.deepEqual([...copied], [[1, null]]);
  isRefusing = false;
  await placement.refresh();
  assert.deepEqual([...copied], [[1, 5]]);
});
