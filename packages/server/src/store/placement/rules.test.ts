import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { type Store, StoreUnavailable } from "../contract/index.ts";
import type { Placement } from "./placement.ts";
import { found, inOneDatabase, rememberedRows } from "./rules.ts";

const HERE = 1 as EnvironmentId;
type Answer = () => Promise<{ environmentId: EnvironmentId } | null>;

/** A lookup in databases that answer like this, of which the second holds the environment. */
function lookUp(...answers: Answer[]) {
  return found(...placed(() => 1, answers));
}

/** Databases that answer like this, and how they are asked. `databaseOf`: which of them holds the environment. */
function placed<Result>(databaseOf: () => number, answers: (() => Promise<Result>)[]) {
  const members = answers.map((answer, no) => ({ no, answer, remember: (_: string, given: Result) => given }));
  const placement = { isAlone: false, members: { all: () => members }, storeOf: (member: object) => member, databaseOf };
  const ask = (store: Store) => (store as unknown as { answer: () => Promise<Result> }).answer();
  return [{ ...placement, refresh: async () => undefined } as unknown as Placement, ask] as const;
}

const has: Answer = async () => ({ environmentId: HERE });
const hasNot: Answer = async () => null;
const isAway: Answer = () => Promise.reject(new StoreUnavailable("away"));
const isSilent: Answer = () => new Promise(() => undefined);

test("what one database has is found while another is away or silent", async () => {
  assert.deepEqual(await lookUp(isSilent, has, isAway), { environmentId: HERE });
});

test("what none has is missing only if all could be asked, and rows that another database holds do not count", async () => {
  assert.equal(await lookUp(hasNot, hasNot), null);
  assert.equal(await lookUp(has, hasNot), null);
  await assert.rejects(lookUp(hasNot, isAway), StoreUnavailable);
  await assert.rejects(
    lookUp(hasNot, () => Promise.reject(new TypeError("a fault"))),
    TypeError,
  );
});

test("what moves to another database between two answers is in one of them", async () => {
  let place = 0;
  const moveAfter = async <Result>(answer: Result): Promise<Result> => {
    await null;
    place = 1;
    return answer;
  };
  const row = { environmentId: HERE };
  // The second answers before the switch, the first after it.
  const [placement, find] = placed(() => place, [() => moveAfter(row), async () => row]);
  assert.deepEqual(await found(placement, find), row);
  place = 0;
  const [again, list] = placed(() => place, [() => moveAfter([row]), async () => [row]]);
  assert.deepEqual(await rememberedRows(again, "functionList", list), [row]);
});

test("work in one database that began before another was added goes on in it", async () => {
  const directory = { eventShapeProgress: async () => 7 } as unknown as Store;
  const placement = { isAlone: true, directory };
  const progress = inOneDatabase(placement as unknown as Placement, "eventShapeProgress");
  placement.isAlone = false;
  assert.equal(await progress(), 7);
});
