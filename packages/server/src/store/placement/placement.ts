/**
 * Which database holds which environment, in memory, and how calls reach them.
 *
 * The directory is the truth; it is read again whenever it changes, and whenever a database refuses a write because its environment has
 * moved. An environment becomes known together with its database: whoever reads the list of environments reads it here. Without a member
 * every call goes to the directory's store itself.
 */

import type { EnvironmentId } from "@inlet/protocol";
import {
  DIRECTORY_NO,
  type Environment,
  EnvironmentMoved,
  NO_ENVIRONMENT_ID,
  type Store,
  type StoreDatabase,
  type StoreTopic,
  StoreUnavailable,
  sharedRefresh,
} from "../contract/index.ts";
import type { Member, MemberStore } from "./member.ts";
import { Members, type MembersParts, TOPICS } from "./members.ts";

export interface PlacementParts extends Omit<MembersParts, "prepare" | "onTopic"> {
  /** How long environments are found while the directory is away; absent: CACHE_MS. */
  cacheMs?: number | undefined;
}

/** Shorter than a moved environment's rows stay in the old place and writes there are refused (store/moves): nobody uses an older placement. */
export const CACHE_MS = 100_000;
const READ_AGAIN_MS = 1_000;

export class Placement {
  readonly members: Members;
  readonly #directory: MemberStore;
  readonly #cacheMs: number;
  readonly #listeners = new Set<Parameters<Store["storeWatch"]>[0]>();
  #environments = new Map<EnvironmentId, Environment>();
  /** Their rows could not be written to the database that holds them: they are copied with the next read. */
  readonly #uncopied = new Set<EnvironmentId>();
  /** When the directory was last read, by `performance.now()`. */
  #readAt = performance.now();
  #readingAgain: NodeJS.Timeout | null = null;
  #stopWatching: (() => void) | null = null;
  #isStopped = false;

  constructor({ cacheMs = CACHE_MS, ...parts }: PlacementParts) {
    this.#directory = parts.directory;
    this.#cacheMs = cacheMs;
    this.members = new Members({
      ...parts,
      // The directory's own rows are the truth.
      prepare: async ({ no }, store) => {
        if (no !== DIRECTORY_NO) await this.#copyHeld(no, store);
      },
      onTopic: (topic) => this.#announce(topic),
    });
  }

  /** Reads the directory and opens what is there. A member that is away is opened when it is back. */
  async start(): Promise<void> {
    this.#stopWatching = this.#directory.storeWatch((topic) => {
      if (topic === "directory") void this.refresh().catch(() => undefined);
      void this.#announce(topic);
    });
    await this.refresh();
    await this.members.settled();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopWatching?.();
    if (this.#readingAgain) clearTimeout(this.#readingAgain);
    await this.members.stop();
    await this.#directory.stop();
  }

  /** No database was added: the directory's store serves as it is. */
  get isAlone(): boolean {
    return this.members.isEmpty;
  }

  get directory(): Store {
    return this.isAlone ? this.#directory : this.members.directory.store;
  }

  /** Calls of this are refused while the database is away. */
  storeOf(member: Member): Store {
    return member.store;
  }

  /** As they are now. */
  databases(): readonly StoreDatabase[] {
    if (this.isAlone) return this.#directory.storeDatabases();
    return this.members.all().map(({ no, name, isReachable, store }) => ({ no, name, isReachable, store }));
  }

  databaseOf(environmentId: EnvironmentId): number {
    return this.#environments.get(environmentId)?.databaseNo ?? DIRECTORY_NO;
  }

  /** An environment may have moved since without this node's knowledge. */
  get isOld(): boolean {
    return performance.now() - this.#readAt > this.#cacheMs;
  }

  /** Throws if the directory is away for so long that it is not known any more where environments are. */
  refuseTooOld(): void {
    if (this.isOld) throw new StoreUnavailable("the directory is away for so long that it is not known where environments are");
  }

  /** Calls where the environment is. If it has moved, the call is made once more in its new place. */
  inEnvironment<Result>(environmentId: EnvironmentId, call: (store: Store) => Promise<Result>): Promise<Result> {
    return this.isAlone ? call(this.#directory) : this.#inItsPlace(environmentId, call);
  }

  async #inItsPlace<Result>(environmentId: EnvironmentId, call: (store: Store) => Promise<Result>): Promise<Result> {
    const member = await this.memberOf(environmentId);
    try {
      return await call(member.store);
    } catch (error) {
      if (!(error instanceof EnvironmentMoved)) throw error;
      await this.refresh();
      const next = await this.memberOf(environmentId);
      if (next === member) throw error;
      return await call(next.store);
    }
  }

  /** An environment that this node has not heard of was made by another. A node that stood still reads first. */
  async memberOf(environmentId: EnvironmentId): Promise<Member> {
    // None of them has anything of it.
    if (environmentId === NO_ENVIRONMENT_ID) return this.members.all().find(({ isReachable }) => isReachable) ?? this.members.directory;
    if (this.isOld || !this.#environments.has(environmentId)) await this.refresh();
    return this.members.numbered(this.databaseOf(environmentId));
  }

  /** Calls made during a read share the next one. */
  readonly refresh = sharedRefresh(() => this.#read());

  /** All environments, whose places are known by then. */
  async environments(): Promise<Environment[]> {
    await this.refresh();
    return [...this.#environments.values()];
  }

  /** An environment that this node made or changed. */
  async note(environment: Environment): Promise<void> {
    this.#environments.set(environment.id, environment);
    if (environment.databaseNo === DIRECTORY_NO) return;
    // Without its row, the member is not reachable again either.
    await this.#copyTo(this.members.numbered(environment.databaseNo), [environment]);
  }

  /** Listeners hear of changes in any database, and of a database that is reachable again. */
  watch(listener: Parameters<Store["storeWatch"]>[0]): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async #announce(topic: StoreTopic): Promise<void> {
    await Promise.all([...this.#listeners].map((listener) => listener(topic)));
  }

  /** What is cached of an environment that moved was read in its old place, and is read in the new one. */
  #announceMoved(): void {
    for (const topic of TOPICS) void this.#announce(topic);
  }

  #heldBy(no: number): Environment[] {
    return [...this.#environments.values()].filter(({ databaseNo }) => databaseNo === no);
  }

  /** Environments first: each database that one of them names is in the list that is read next. */
  async #read(): Promise<void> {
    try {
      const environments = await this.directory.environmentList();
      const databases = await this.directory.databaseList();
      this.#readAt = performance.now();
      const before = this.#environments;
      const changed = environments.filter((one) => !isSame(one, before.get(one.id)) || this.#uncopied.has(one.id));
      this.#environments = new Map(environments.map((environment) => [environment.id, environment]));
      for (const database of databases) this.members.add(database);
      await this.#copy(changed);
      const moved = changed.filter(({ id, databaseNo }) => before.has(id) && before.get(id)?.databaseNo !== databaseNo);
      for (const { databaseNo } of moved) this.members.numbered(databaseNo).forget();
      if (moved.length > 0) this.#announceMoved();
    } catch (error) {
      this.#readLater();
      throw error;
    }
  }

  /** A member that is away gets the rows before it is used again. */
  async #copy(environments: readonly Environment[]): Promise<void> {
    for (const member of this.members.added()) {
      const held = environments.filter(({ databaseNo }) => databaseNo === member.no);
      if (held.length > 0) await this.#copyTo(member, held).catch(() => undefined);
    }
  }

  /** What changes while the rows are written is written after them: a member counts as away until then, and gets a change in no other way. */
  async #copyHeld(no: number, store: MemberStore): Promise<void> {
    let held: Environment[];
    do {
      held = this.#heldBy(no);
      await store.environmentCopy({ environments: held });
    } while (!isSame(held, this.#heldBy(no)));
  }

  async #copyTo(member: Member, held: readonly Environment[]): Promise<void> {
    try {
      await member.copyEnvironments(held);
      for (const { id } of held) this.#uncopied.delete(id);
    } catch (error) {
      for (const { id } of held) this.#uncopied.add(id);
      this.#readLater();
      throw error;
    }
  }

  #readLater(): void {
    if (this.#readingAgain || this.#isStopped) return;
    this.#readingAgain = setTimeout(() => {
      this.#readingAgain = null;
      void this.refresh().catch(() => undefined);
    }, READ_AGAIN_MS).unref();
  }
}

function isSame<Value extends Environment | readonly Environment[]>(one: Value, other: Value | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
