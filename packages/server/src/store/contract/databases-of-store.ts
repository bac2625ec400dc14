/** What concerns a store of several databases: a database that is away holds up nothing of the others. */

import type { EnvironmentId } from "@inlet/protocol";
import { type Store, type StoreDatabase, StoreUnavailable } from "./store.ts";

/** The database that holds an environment. */
export function databaseOf(store: Pick<Store, "storeDatabases" | "storeDatabaseOf">, environmentId: EnvironmentId): StoreDatabase {
  const no = store.storeDatabaseOf(environmentId);
  const known = store.storeDatabases().find((database) => database.no === no);
  if (!known) throw new StoreUnavailable(`the database ${no} is not known here yet`);
  return known;
}

/** Every database. Of one alone, the store is the one given: whoever watches its calls sees them. */
export function databasesOf(store: Store): readonly StoreDatabase[] {
  const databases = store.storeDatabases();
  const [only] = databases;
  return only && databases.length === 1 ? [{ ...only, store }] : databases;
}

/** The names of the databases that hold these environments. */
export function databaseNames(
  store: Pick<Store, "storeDatabases" | "storeDatabaseOf">,
  environments: readonly { id: EnvironmentId }[],
): string[] {
  const nos = new Set(environments.map(({ id }) => store.storeDatabaseOf(id)));
  return store.storeDatabases().flatMap(({ no, name }) => (nos.has(no) ? [name] : []));
}

/** Environments whose database can be reached. */
export function reachableOnly<Of extends { id: EnvironmentId }>(
  store: Pick<Store, "storeDatabases" | "storeDatabaseOf">,
  environments: readonly Of[],
): Of[] {
  const away = new Set(store.storeDatabases().flatMap(({ no, isReachable }) => (isReachable ? [] : [no])));
  return away.size === 0 ? [...environments] : environments.filter(({ id }) => !away.has(store.storeDatabaseOf(id)));
}

/**
 * Works in each database that can be reached. `isHeld`: whether it holds the environment of a row; one that moves has rows in two. Returns
 * whether one of them has more to do; throws if none could be worked in.
 */
export async function inEachDatabase(
  store: Store,
  work: (store: Store, isHeld: (row: { environmentId: EnvironmentId }) => boolean) => Promise<boolean>,
): Promise<boolean> {
  const databases = databasesOf(store);
  const heldBy = (no: number) => (row: { environmentId: EnvironmentId }) => store.storeDatabaseOf(row.environmentId) === no;
  const outcomes = await Promise.allSettled(databases.map((database) => work(database.store, heldBy(database.no))));
  const faults = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason as unknown] : []));
  const fault =
    faults.find((error) => !(error instanceof StoreUnavailable)) ?? (faults.length === databases.length ? faults[0] : undefined);
  if (fault !== undefined) throw fault;
  return outcomes.some((outcome) => outcome.status === "fulfilled" && outcome.value);
}

/**
 * Writes rows of several environments, those of one database together, whole or not at all. `putBack` gets the rows that were not written;
 * throws if there are any.
 */
export async function writeByDatabase<Row extends { environmentId: EnvironmentId }>(
  store: Pick<Store, "storeDatabaseOf">,
  rows: readonly Row[],
  write: (rows: readonly Row[]) => Promise<void>,
  putBack: (rows: readonly Row[]) => void,
): Promise<void> {
  const groups = [...Map.groupBy(rows, ({ environmentId }) => store.storeDatabaseOf(environmentId)).values()];
  const outcomes = await Promise.allSettled(groups.map((group) => write(group)));
  const faults: unknown[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    if (outcome.status === "fulfilled") continue;
    putBack(groups[index] as Row[]);
    faults.push(outcome.reason);
  }
  if (faults.length > 0) throw faults[0];
}
