/**
 * The ways in which a call reaches the databases.
 *
 * - `inDirectory`: what the directory alone holds.
 * - `inEnvironment`: where the environment is that the call names.
 * - `rows`, `rememberedRows`: lists over all databases, of the environments that each of them holds.
 * - `first`: one after the other, until one has something.
 * - `found`: what only one of them can have.
 * - `upTo`, `upToIn`, `onwards`: removals, one database after the other, or in the environment that the call names.
 * - `split` (split.ts): each gets the part that concerns its environments.
 * - `each`, `watched`: all of them.
 * - `inOneDatabase`: work that keeps its progress per database, and asks each by itself.
 *
 * A database that is away is left out where nothing can be done without it. Where the response would be wrong without it, the call fails.
 */

import type { EnvironmentId } from "@inlet/protocol";
import { type Removal, type RemovalParams, type Store, StoreUnavailable } from "../contract/index.ts";
import type { Member } from "./member.ts";
import type { Placement } from "./placement.ts";
import type { AnyCall, CallName, KeptList, WatchName } from "./store-methods.ts";

/** What a node asks of the store itself: placed-store.ts. */
export type Itself = "stop" | "storeProbe" | "storeBytes" | "storeReport" | "storeWatch";
export type RoutedName = Exclude<CallName | WatchName, Itself>;

/** How one method of the store is made from those of several databases. */
export type Rule<Name extends keyof Store> = (placement: Placement, name: Name) => Store[Name];

/** A rule for each method of a noun: one that is missing does not compile. */
export type Routes<Noun> = { readonly [Name in keyof Noun & RoutedName]: Rule<Name> };

/** Methods whose parameters name an environment. */
type InEnvironment = {
  [Name in CallName]: Store[Name] extends (params: infer Params) => Promise<unknown>
    ? Params extends { environmentId: EnvironmentId }
      ? Name
      : never
    : never;
}[CallName];

export interface Held {
  environmentId: EnvironmentId;
}

const NOT_HERE = new Error("not in this database");

export function inDirectory<Name extends CallName>(placement: Placement, name: Name): Store[Name] {
  return ((...params: unknown[]) => (placement.directory[name] as AnyCall)(...params)) as unknown as Store[Name];
}

export function inEnvironment<Name extends InEnvironment>(placement: Placement, name: Name): Store[Name] {
  const call = (params: Held) => placement.inEnvironment(params.environmentId, (store) => (store[name] as unknown as AnyCall)(params));
  return call as unknown as Store[Name];
}

/** What each database answers that can be reached. */
export async function each<Result>(
  placement: Placement,
  call: (store: Store) => Promise<Result>,
): Promise<{ member: Member; answer: Result }[]> {
  const { members } = placement;
  if (placement.isAlone) return [{ member: members.directory, answer: await call(placement.directory) }];
  const asked = members.all().map(async (member) => {
    try {
      return [{ member, answer: await call(placement.storeOf(member)) }];
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return [];
    }
  });
  return (await Promise.all(asked)).flat();
}

/** The rows of each database, without those of environments that another one holds. */
export async function rows<Row extends Held>(placement: Placement, call: (store: Store) => Promise<Row[]>): Promise<Row[]> {
  if (placement.isAlone) return call(placement.directory);
  return (await each(placement, call)).flatMap(({ member, answer }) => answer.filter(isHeldBy(placement, member)));
}

/** The same for lists that nodes keep in memory: of a database that is away, what it answered last. */
export async function rememberedRows<Row extends Held>(
  placement: Placement,
  name: KeptList,
  call: (store: Store) => Promise<Row[]>,
): Promise<Row[]> {
  if (placement.isAlone) return call(placement.directory);
  const asked = placement.members.all().map(async (member) => {
    try {
      return { member, answer: member.remember(name, await call(placement.storeOf(member))) };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return { member, answer: member.recall<Row[]>(name, error) ?? [] };
    }
  });
  // By one placement for all answers: an environment that moves meanwhile is in one of them.
  return (await Promise.all(asked)).flatMap(({ member, answer }) => answer.filter(isHeldBy(placement, member)));
}

/** The row of one database, as soon as that has answered. If none of those that can be reached has it, another might. */
export async function found<Row extends Held>(placement: Placement, call: (store: Store) => Promise<Row | null>): Promise<Row | null> {
  if (placement.isAlone) return call(placement.directory);
  const row = await foundHere(placement, call);
  if (row !== "elsewhere") return row;
  // The environment may have moved between two answers.
  await placement.refresh();
  const again = await foundHere(placement, call);
  return again === "elsewhere" ? null : again;
}

/** "elsewhere": only a database has it that does not hold its environment. */
async function foundHere<Row extends Held>(
  placement: Placement,
  call: (store: Store) => Promise<Row | null>,
): Promise<Row | "elsewhere" | null> {
  let isElsewhere = false;
  const asked = placement.members.all().map(async (member) => {
    const answer = await call(placement.storeOf(member));
    if (answer === null || isHeldBy(placement, member)(answer)) return answer;
    isElsewhere = true;
    return null;
  });
  const hits = asked.map(async (answer) => (await answer) ?? Promise.reject(NOT_HERE));
  const hit = await Promise.any(hits).catch(() => null);
  if (hit) return hit;
  for (const outcome of await Promise.allSettled(asked)) {
    if (outcome.status === "fulfilled") continue;
    if (!(outcome.reason instanceof StoreUnavailable)) throw outcome.reason;
    throw new StoreUnavailable("a database that may have it cannot be reached", outcome.reason);
  }
  return isElsewhere ? "elsewhere" : null;
}

/** One database after the other, beginning with another one each time, until one has something. */
export function first<Params, Result>(
  placement: Placement,
  call: (store: Store, params: Params) => Promise<Result | null>,
): (params: Params) => Promise<Result | null> {
  let turn = 0;
  return async (params) => {
    if (placement.isAlone) return call(placement.directory, params);
    const members = placement.members.all();
    turn = (turn + 1) % members.length;
    for (const member of [...members.slice(turn), ...members.slice(0, turn)]) {
      const answer = await call(placement.storeOf(member), params).catch(unlessUnavailable(null));
      if (answer !== null) return answer;
    }
    return null;
  };
}

/** Removes at most `limit` rows of all databases together. */
export function upTo<Params extends { limit: number }>(
  placement: Placement,
  call: (store: Store, params: Params) => Promise<number>,
): (params: Params) => Promise<number> {
  return async (params) => {
    if (placement.isAlone) return call(placement.directory, params);
    let removed = 0;
    for (const member of placement.members.all()) {
      removed += await call(placement.storeOf(member), { ...params, limit: params.limit - removed }).catch(unlessUnavailable(0));
      if (removed >= params.limit) break;
    }
    return removed;
  };
}

/** The same, or in the environment that the call names. */
export function upToIn<Params extends { environmentId?: EnvironmentId; limit: number }>(
  placement: Placement,
  params: Params,
  call: (store: Store, params: Params) => Promise<number>,
): Promise<number> {
  const { environmentId } = params;
  if (environmentId === undefined) return upTo(placement, call)(params);
  return placement.inEnvironment(environmentId, (store) => call(store, params));
}

/** The same with a cursor, which begins with the number of the database. */
export async function onwards<Params extends RemovalParams>(
  placement: Placement,
  params: Params,
  call: (store: Store, params: Params) => Promise<Removal>,
): Promise<Removal> {
  if (placement.isAlone) return call(placement.directory, params);
  const [no = "0", ...rest] = (params.after ?? "0:").split(":");
  const left = placement.members.all().filter((one) => one.no >= Number(no));
  for (const [index, member] of left.entries()) {
    const after = member.no === Number(no) ? rest.join(":") || null : null;
    const { removed, next } = await call(placement.storeOf(member), { ...params, after }).catch(
      unlessUnavailable({ removed: 0, next: null }),
    );
    if (next !== null) return { removed, next: `${member.no}:${next}` };
    const following = left[index + 1];
    if (removed > 0) return { removed, next: following ? `${following.no}:` : null };
  }
  return { removed: 0, next: null };
}

/**
 * For work that keeps its progress per database, and asks each by itself (`inEachDatabase`). Work that began when there was one database
 * only, before another was added, goes on in that one.
 */
export function inOneDatabase<Name extends CallName>(placement: Placement, name: Name): Store[Name] {
  return inDirectory(placement, name);
}

/** Calls the listener for every database, those added later included. */
export function watched<Name extends Exclude<WatchName, Itself>>({ members }: Placement, name: Name): Store[Name] {
  return ((listener: unknown) => members.watch(name, () => listener)) as unknown as Store[Name];
}

/** For calls that return nothing. */
export async function done(work: Promise<unknown>): Promise<void> {
  await work;
}

function isHeldBy(placement: Placement, { no }: Member): (row: Held) => boolean {
  return ({ environmentId }) => placement.databaseOf(environmentId) === no;
}

export function unlessUnavailable<Result>(answer: Result): (error: unknown) => Result {
  return (error) => {
    if (error instanceof StoreUnavailable) return answer;
    throw error;
  };
}
