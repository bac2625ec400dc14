/**
 * One database of several: its store, and whether it can be reached.
 *
 *   away ──▶ reachable      it answered; its store is opened the first time; what nodes keep of it in memory has been read
 *     ▲          │
 *     └──────────┘          it did not answer in time, or its connections broke and it does not answer
 *
 * A database that is away refuses every call at once, and those in flight: nobody waits for it. It is asked for a sign of life again
 * and again. Calls that fail while it answers (a lock, a full disk) concern only themselves.
 */

import { type Environment, EnvironmentMoved, type Store, StoreUnavailable } from "../contract/index.ts";
import type { EnvironmentCopies } from "../environments/contract.ts";
import { type AnyCall, callsOf, KEPT_LISTS, type KeptList, SYNCHRONOUS, viewsFrom, WATCHES, type WatchName } from "./store-methods.ts";

export type MemberStore = Store & EnvironmentCopies;

/** How a database is asked for a sign of life. */
export interface SignOfLife {
  ask(timeoutMs: number): Promise<void>;
  stop(): void;
}

export interface MemberParts {
  no: number;
  name: string;
  /** Called when the database is reached for the first time. If it throws, it is called again. */
  open(): Promise<MemberStore>;
  /** It is open already, and has been used. */
  opened?: MemberStore | undefined;
  /** Called before the database is used for the first time, or again after it was away. Its lists are remembered by then. */
  prepare(store: MemberStore): Promise<void>;
  life: SignOfLife;
  /** The store whose names and time this one shares: the directory's. */
  shared: Store;
  onAway(reason: string): void;
  onReachable(): void;
}

/** Together less than the five seconds within which a request to a silent database is answered. */
const ASK_EVERY_MS = 500;
const RESPONSE_MS = 3_000;
/** While it is away. */
const ASK_AGAIN_MS = 200;

export class Member {
  readonly no: number;
  readonly name: string;
  /** Every call is refused while the database is away. */
  readonly store: Store;
  readonly #parts: MemberParts;
  readonly #refusals = new Set<(error: StoreUnavailable) => void>();
  readonly #watched: { name: WatchName; listener: never; stop: (() => void) | null }[] = [];
  /** The last responses to lists that are kept in memory. */
  readonly #remembered = new Map<KeptList, unknown>();
  #plain: MemberStore | null = null;
  #isReachable = false;
  /** Why it is away, as it was last told. */
  #reason: string | null = null;
  #asking: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;

  constructor(parts: MemberParts) {
    this.#parts = parts;
    this.no = parts.no;
    this.name = parts.name;
    this.store = this.#guarded();
    this.#plain = parts.opened ?? null;
    this.#isReachable = this.#plain !== null;
  }

  get isReachable(): boolean {
    return this.#isReachable;
  }

  /** The store itself; null until the database was reached for the first time. */
  get plain(): MemberStore | null {
    return this.#plain;
  }

  /** Resolves when it is known whether the database can be reached. */
  async start(): Promise<void> {
    await this.#ask();
    this.#plan();
  }

  /** The store stays open: others may have to finish. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#parts.life.stop();
    await this.#asking;
  }

  /** Rows of the directory that those of this database refer to. If it is away, it gets them before it is used again. */
  async copyEnvironments(environments: readonly Environment[]): Promise<void> {
    if (this.#isReachable) await this.#call((store) => store.environmentCopy, [{ environments }]);
  }

  remember<Result>(name: KeptList, answer: Result): Result {
    this.#remembered.set(name, answer);
    return answer;
  }

  /** For a list that could not be read. If nothing is remembered, the database is not used until it has been: events would start nothing. */
  recall<Result>(name: KeptList, error: StoreUnavailable): Result | undefined {
    const remembered = this.#remembered.get(name);
    if (remembered === undefined && this.#isReachable) this.#lose(error.message);
    return remembered as Result | undefined;
  }

  /** An environment has moved here: what is remembered lacks what belongs to it. */
  forget(): void {
    this.#remembered.clear();
  }

  #plan(): void {
    if (this.#isStopped) return;
    const afterMs = this.#isReachable ? ASK_EVERY_MS : ASK_AGAIN_MS;
    this.#timer = setTimeout(() => void this.#ask().then(() => this.#plan()), afterMs).unref();
  }

  #ask(): Promise<void> {
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** Never throws. */
  async #askOnce(): Promise<void> {
    try {
      await this.#parts.life.ask(RESPONSE_MS);
      if (this.#isReachable || this.#isStopped) return;
      const store = this.#plain ?? (await this.#open());
      await Promise.all(KEPT_LISTS.map(async (name) => this.remember<unknown>(name, await store[name]())));
      await this.#parts.prepare(store);
      this.#isReachable = true;
      this.#reason = null;
      this.#parts.onReachable();
    } catch (error) {
      this.#lose((error as Error).message);
    }
  }

  async #open(): Promise<MemberStore> {
    const store = await this.#parts.open();
    this.#plain = store;
    for (const watched of this.#watched) watched.stop = store[watched.name](watched.listener);
    return store;
  }

  #lose(reason: string): void {
    if (this.#isReachable || this.#reason !== reason) this.#parts.onAway(reason);
    this.#isReachable = false;
    this.#reason = reason;
    for (const refuse of this.#refusals) refuse(this.#unavailable());
    this.#refusals.clear();
  }

  #unavailable(): StoreUnavailable {
    return new StoreUnavailable(`the database ${this.name} cannot be reached`);
  }

  #guarded(): Store {
    const { shared } = this.#parts;
    const calls = callsOf(shared).map((name) => [name, (...params: unknown[]) => this.#call((store) => store[name], params)] as const);
    const watches = WATCHES.map((name) => [name, (listener: never) => this.#watch(name, listener)] as const);
    const synchronous = SYNCHRONOUS.map((name) => [name, shared[name]] as const);
    const storeViews = viewsFrom(
      (name) =>
        (...params: unknown[]) =>
          this.#call((store) => store.storeViews[name], params),
    );
    const storeReplica = () => this.#plain?.storeReplica() ?? null;
    return { ...Object.fromEntries<unknown>([...synchronous, ...calls, ...watches]), storeViews, storeReplica } as unknown as Store;
  }

  #call(named: (store: MemberStore) => unknown, params: readonly unknown[]): Promise<unknown> {
    const store = this.#plain;
    if (!store || !this.#isReachable) return Promise.reject(this.#unavailable());
    return new Promise((resolve, reject) => {
      this.#refusals.add(reject);
      const end = (settle: () => void) => {
        this.#refusals.delete(reject);
        settle();
      };
      (named(store) as AnyCall)(...params).then(
        (answer) => end(() => resolve(answer)),
        (error) => {
          if (error instanceof StoreUnavailable && !(error instanceof EnvironmentMoved)) void this.#ask();
          end(() => reject(error));
        },
      );
    });
  }

  #watch(name: WatchName, listener: never): () => void {
    const watched = { name, listener, stop: this.#plain?.[name](listener) ?? null };
    this.#watched.push(watched);
    return () => {
      watched.stop?.();
      const index = this.#watched.indexOf(watched);
      if (index >= 0) this.#watched.splice(index, 1);
    };
  }
}
