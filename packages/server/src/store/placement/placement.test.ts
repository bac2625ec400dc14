import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { type Environment, StoreUnavailable } from "../contract/index.ts";
import type { MemberStore } from "./member.ts";
import { Placement, type PlacementParts } from "./placement.ts";
import { KEPT_LISTS } from "./store-methods.ts";

const FAR = { id: 1 as EnvironmentId, name: "far", databaseNo: 1, archivedAt: null } as Environment;

/** Of a directory and one more database. `copy` is called before rows are written there. */
function openPlacement(t: TestContext, environments: () => Environment[], copy: () => Promise<void>) {
  const copied = new Map<EnvironmentId, number | null>();
  const stopped = { storeWatch: () => () => undefined, stop: async () => undefined };
  const directory = {
    ...stopped,
    environmentList: async () => environments(),
    databaseList: async () => [{ no: 1, name: "second" }],
  } as unknown as MemberStore;
  const member = {
    ...stopped,
    ...Object.fromEntries(KEPT_LISTS.map((list) => [list, async () => []])),
    async environmentCopy(given: { environments: readonly Environment[] }) {
      await copy();
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
  return { placement, copied };
}

test("an environment whose row its database refused is copied with the next read", async (t) => {
  let far = FAR;
  let isRefusing = false;
  const { placement, copied } = openPlacement(
    t,
    () => [far],
    async () => {
      if (isRefusing) throw new StoreUnavailable("timed out waiting for a lock");
    },
  );
  await placement.start();
  assert.deepEqual([...copied], [[1, null]]);
  far = { ...FAR, archivedAt: 5 };
  isRefusing = true;
  await placement.refresh();
  assert.deepEqual([...copied], [[1, null]]);
  isRefusing = false;
  await placement.refresh();
  assert.deepEqual([...copied], [[1, 5]]);
});

test("an environment that changes while its row is written to a database that comes back is written once more", async (t) => {
  let far = FAR;
  const [begun, written] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { placement, copied } = openPlacement(
    t,
    () => [far],
    () => {
      begun.resolve();
      return written.promise;
    },
  );
  const starting = placement.start();
  await begun.promise;
  far = { ...FAR, archivedAt: 5 };
  await placement.refresh();
  written.resolve();
  await starting;
  assert.deepEqual([...copied], [[1, 5]]);
});
