/** The methods of a store by their kind: those that ask the database, those that watch it, and those that answer from memory. */

import { STORE_VIEWS, type Store } from "../contract/index.ts";

/** Answered from memory, the same for all databases. */
export const SYNCHRONOUS = [
  "storeNode",
  "storeIsShared",
  "storeNow",
  "storeKeyHash",
  "storeLinkToken",
  "storeDatabases",
  "storeDatabaseOf",
] as const satisfies readonly (keyof Store)[];

/** Each takes a listener and returns what stops it. */
export const WATCHES = [
  "eventWatch",
  "runWatch",
  "queueWatch",
  "limitWatch",
  "realtimeWatch",
  "resumptionWatch",
  "storeWatch",
] as const satisfies readonly (keyof Store)[];

/** Lists that nodes keep in memory. */
export const KEPT_LISTS = [
  "appList",
  "functionList",
  "eventSchemaList",
  "eventTypeSettingsList",
] as const satisfies readonly (keyof Store)[];

export type KeptList = (typeof KEPT_LISTS)[number];
export type WatchName = (typeof WATCHES)[number];
/** Everything else that is asked of a database: a call that ends with a promise. */
export type CallName = Exclude<keyof Store, WatchName | (typeof SYNCHRONOUS)[number] | "storeViews" | "storeReplica">;
export type ViewName = (typeof STORE_VIEWS)[number];

export type AnyCall = (...params: unknown[]) => Promise<unknown>;

export function callsOf(store: Store): CallName[] {
  const others: readonly string[] = [...SYNCHRONOUS, ...WATCHES, "storeViews", "storeReplica"];
  return Object.keys(store).filter((name) => !others.includes(name)) as CallName[];
}

/** The store as those see it who only look: its views in place of the calls of the same names. */
export function viewed(store: Store): Store {
  return { ...store, ...store.storeViews };
}

export function viewsFrom(make: (name: ViewName) => unknown): Store["storeViews"] {
  return Object.fromEntries(STORE_VIEWS.map((name) => [name, make(name)])) as unknown as Store["storeViews"];
}
