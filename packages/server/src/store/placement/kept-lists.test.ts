import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { until } from "../../../test/support/runs.ts";
import { type PlacedDatabase, StoreUnavailable } from "../contract/index.ts";
import type { MemberStore } from "./member.ts";
import { Placement } from "./placement.ts";
import { rememberedRows } from "./rules.ts";
import { KEPT_LISTS } from "./store-methods.ts";

const FAR = 1 as EnvironmentId;
const FUNCTION = { environmentId: FAR };

/** An environment in the second of two databases, which answers as the test wants. */
async function open(t: TestContext, databaseNo = 1) {
  const state = { isAway: false, canList: true, databaseNo };
  const answer = (can: () => boolean) => async () => {
    if (!can()) throw new StoreUnavailable("no");
  };
  const common = {
    storeWatch: () => () => undefined,
    stop: async () => undefined,
    environmentCopy: async () => undefined,
    environmentList: async () => [{ id: FAR, databaseNo: state.databaseNo }],
    databaseList: async (): Promise<PlacedDatabase[]> => [{ no: 1, name: "second", url: "", readUrl: null, createdAt: 0 }],
    eventGet: async () => null,
  };
  const lists = (rows: () => Promise<object[]>) => Object.fromEntries(KEPT_LISTS.map((name) => [name, rows]));
  const directory = { ...common, ...lists(async () => []) } as unknown as MemberStore;
  const canList = answer(() => state.canList);
  const second = { ...common, ...lists(async () => canList().then(() => [FUNCTION])) } as unknown as MemberStore;
  const placement = new Placement({
    directory,
    directoryLife: { ask: async () => undefined, stop: () => undefined },
    life: () => ({ ask: answer(() => !state.isAway), stop: () => undefined }),
    open: async () => second,
    onAway: () => undefined,
    onReachable: () => undefined,
  });
  t.after(() => placement.stop());
  await placement.start();
  const isReachable = () => placement.members.numbered(1).isReachable;
  const ask = () => placement.inEnvironment(FAR, (store) => store.eventGet({ environmentId: FAR, id: "" as never }));
  return { placement, state, isReachable, ask, list: () => rememberedRows(placement, "functionList", (store) => store.functionList()) };
}

test("a database that was away is used again once what is kept of it in memory has been read", async (t) => {
  const { placement, state, isReachable, ask, list } = await open(t);
  state.isAway = true;
  await until("it is away", () => !isReachable() || undefined);
  const read = Promise.withResolvers<void>();
  let isReading = false;
  placement.watch(async () => {
    assert.deepEqual(await list(), [FUNCTION]);
    isReading = true;
    await read.promise;
  });
  state.isAway = false;
  await until("it is read", () => isReading || undefined);
  await assert.rejects(ask(), StoreUnavailable);
  read.resolve();
  await until("it is used", () => isReachable() || undefined);
  await ask();
});

test("a database whose lists cannot be read is not used before they have been", async (t) => {
  const { state, isReachable, ask, list, placement } = await open(t, 0);
  assert.deepEqual(await list(), []);
  state.canList = false;
  await list();
  assert.ok(isReachable(), "what is remembered serves");
  state.databaseNo = 1;
  await placement.refresh();
  await list();
  await assert.rejects(ask(), StoreUnavailable, "what is remembered is older than the move of the environment");
  state.canList = true;
  await until("it is used", () => isReachable() || undefined);
  assert.deepEqual(await list(), [FUNCTION]);
});
