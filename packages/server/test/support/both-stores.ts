/**
 * `test` and `suite` as in node:test, for what must hold on either engine: every test runs once on the embedded store and once on
 * PostgreSQL, and its name says on which. startTestService opens the store of the test that calls it.
 *
 * TEST_STORE=sqlite or TEST_STORE=postgres runs only that half, and everything that runs on one engine on that one.
 */

import { test as nodeTest, type TestContext, type TestOptions } from "node:test";
import { type StoreKind, storeOfTest } from "./current-store.ts";
import { whyNoPostgres } from "./postgres.ts";

export { suite } from "node:test";
export type { StoreKind } from "./current-store.ts";

type Body = (t: TestContext, store: StoreKind) => Promise<void> | void;
type Rest = [Body] | [TestOptions, Body];

const chosen = process.env.TEST_STORE as StoreKind | undefined;
const STORES: readonly StoreKind[] = chosen ? [chosen] : ["sqlite", "postgres"];
const skips: Record<StoreKind, string | false> = { sqlite: false, postgres: whyNoPostgres() ?? false };

export function test(name: string, body: Body): void;
export function test(name: string, options: TestOptions, body: Body): void;
export function test(name: string, ...rest: Rest): void {
  for (const store of STORES) addTest(store, name, rest);
}

/** For what another test does on the embedded store. Where there is no PostgreSQL, this one does it there, too. */
export function testOnPostgres(name: string, body: Body): void;
export function testOnPostgres(name: string, options: TestOptions, body: Body): void;
export function testOnPostgres(name: string, ...rest: Rest): void {
  addTest(onlyStore("postgres"), name, rest);
}

function onlyStore(store: StoreKind): StoreKind {
  return chosen ?? (skips[store] ? "sqlite" : store);
}

function addTest(store: StoreKind, name: string, rest: Rest): void {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
  const skip = options.skip || skips[store];
  void nodeTest(`${name} [${store}]`, { ...options, skip }, (t) => storeOfTest.run(store, () => body(t as TestContext, store)));
}
