import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { EnvironmentMoved, type PlacedDatabase, type Store } from "../contract/index.ts";
import type { MemberStore } from "./member.ts";
import { Placement } from "./placement.ts";
import { split } from "./split.ts";
import { KEPT_LISTS } from "./store-methods.ts";

const [MOVING, STAYING] = [1, 2] as EnvironmentId[] as [EnvironmentId, EnvironmentId];
const LIFE = { ask: async () => undefined, stop: () => undefined };

/** Two databases. The first refuses rows of an environment that has moved, and the directory is read again only then. */
async function twoDatabases(t: { after(work: () => Promise<void>): void }, ids: readonly EnvironmentId[]) {
  const places = new Map(ids.map((id) => [id, 0]));
  const written: string[] = [];
  const store = (no: number) => {
    const calls = {
      storeWatch: () => () => undefined,
      stop: async () => undefined,
      environmentCopy: async () => undefined,
      ...Object.fromEntries(KEPT_LISTS.map((name) => [name, async () => []])),
      environmentList: async () => [...places].map(([id, databaseNo]) => ({ id, databaseNo })),
      databaseList: async (): Promise<PlacedDatabase[]> => [{ no: 1, name: "second", url: "", readUrl: null, createdAt: 0 }],
      write(rows: readonly { environmentId: EnvironmentId }[]): void {
        if (no === 0 && rows.some(({ environmentId }) => places.get(environmentId) !== 0)) throw new EnvironmentMoved("moved");
        written.push(...rows.map(({ environmentId }) => `${environmentId} in ${no}`));
      },
    };
    return calls as unknown as MemberStore & typeof calls;
  };
  const [directory, second] = [store(0), store(1)];
  const placement = new Placement({
    directory,
    directoryLife: LIFE,
    life: () => LIFE,
    open: async () => second,
    onAway: () => undefined,
    onReachable: () => undefined,
  });
  t.after(() => placement.stop());
  await placement.start();
  const write = (parts: readonly EnvironmentId[]) => {
    const call = async (given: Store, rows: readonly { environmentId: EnvironmentId }[]) =>
      (given === placement.members.directory.store ? directory : second).write(rows);
    return split(
      placement,
      parts.map((environmentId) => ({ environmentId })),
      call,
    );
  };
  return { placement, places, written, write };
}

for (const order of [
  [MOVING, STAYING],
  [STAYING, MOVING],
]) {
  test(`rows of ${order.join(" and ")}: one that stays is written where it is, when another has moved`, async (t) => {
    const { places, written, write } = await twoDatabases(t, order);
    places.set(MOVING, 1);
    await assert.rejects(write(order), EnvironmentMoved, "nothing is written by a placement that is partly out of date");
    assert.deepEqual(written, []);
    await write(order);
    assert.deepEqual(written.sort(), ["1 in 1", "2 in 0"]);
  });
}

test("rows of environments that have moved together are written in their new place", async (t) => {
  const { places, written, write } = await twoDatabases(t, [MOVING, STAYING]);
  for (const id of [MOVING, STAYING]) places.set(id, 1);
  await write([MOVING, STAYING]);
  assert.deepEqual(written.sort(), ["1 in 1", "2 in 1"]);
});

test("when a node learns of a move, it reads again what it keeps in memory", async (t) => {
  const { placement, places } = await twoDatabases(t, [MOVING, STAYING]);
  const topics: string[] = [];
  placement.watch((topic) => topics.push(topic));
  await placement.refresh();
  assert.deepEqual(topics, []);
  places.set(MOVING, 1);
  await placement.refresh();
  assert.deepEqual(topics, ["registry", "catalogue"]);
});
