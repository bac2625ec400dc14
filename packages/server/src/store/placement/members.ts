/** The databases of a store: the directory, and the members that were added. One that is added while the service runs is opened at once. */

import { DIRECTORY_NAME, DIRECTORY_NO, type PlacedDatabase, type StoreTopic, StoreUnavailable } from "../contract/index.ts";
import { Member, type MemberStore, type SignOfLife } from "./member.ts";
import type { WatchName } from "./store-methods.ts";

export interface MembersParts {
  directory: MemberStore;
  directoryLife: SignOfLife;
  open(database: PlacedDatabase): Promise<MemberStore>;
  life(database: PlacedDatabase): SignOfLife;
  onAway(name: string, reason: string): void;
  onReachable(name: string): void;
  /** Called before a database is used for the first time, or again. */
  prepare(member: Member, store: MemberStore): Promise<void>;
  /** What is cached of a member has changed, or may have while it was away. Resolves when it has been read again. */
  onTopic(topic: StoreTopic): Promise<void>;
}

/** Topics of a member: environments, keys and webhooks are in the directory. */
export const TOPICS: readonly StoreTopic[] = ["registry", "catalogue"];

interface Watch {
  name: WatchName;
  listener(no: number): never;
  stops: (() => void)[];
}

export class Members {
  readonly directory: Member;
  readonly #parts: MembersParts;
  readonly #added = new Map<number, Member>();
  readonly #starting = new Set<Promise<void>>();
  readonly #watches = new Set<Watch>();
  #isStopped = false;

  constructor(parts: MembersParts) {
    this.#parts = parts;
    const { directory, directoryLife: life } = parts;
    this.directory = this.#member({ no: DIRECTORY_NO, name: DIRECTORY_NAME, life, open: async () => directory, opened: directory });
  }

  get isEmpty(): boolean {
    return this.#added.size === 0;
  }

  /** The directory first. */
  all(): Member[] {
    return [this.directory, ...this.#added.values()];
  }

  added(): Member[] {
    return [...this.#added.values()];
  }

  numbered(no: number): Member {
    const member = no === DIRECTORY_NO ? this.directory : this.#added.get(no);
    if (!member) throw new StoreUnavailable(`the database ${no} is not known here yet`);
    return member;
  }

  /** No effect if it was added before. */
  add(database: PlacedDatabase): void {
    const { no, name } = database;
    if (this.#added.has(no) || this.#isStopped) return;
    // The directory is asked for signs of life only if there is something to go on without it.
    if (this.isEmpty) this.#start(this.directory);
    const open = () => this.#parts.open(database);
    const member = this.#member({ no, name, open, life: this.#parts.life(database) });
    this.#added.set(no, member);
    member.store.storeWatch((topic) => {
      if (TOPICS.includes(topic)) void this.#parts.onTopic(topic);
    });
    for (const watch of this.#watches) watch.stops.push(member.store[watch.name](watch.listener(no)));
    this.#start(member);
  }

  /** Resolves when each database is open, or known to be away. */
  async settled(): Promise<void> {
    await Promise.all(this.#starting);
  }

  /** `listener` makes the listener for each database, those added later included. */
  watch<Name extends WatchName>(name: Name, listener: (no: number) => unknown): () => void {
    const watch: Watch = { name, listener: listener as (no: number) => never, stops: [] };
    for (const { no, store } of this.all()) watch.stops.push(store[name](watch.listener(no)));
    this.#watches.add(watch);
    return () => {
      this.#watches.delete(watch);
      for (const stop of watch.stops) stop();
    };
  }

  /** The store of the directory is stopped by whoever opened it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([this.directory.stop(), ...this.added().map((member) => member.stop())]);
    await Promise.all(this.added().map(({ plain }) => plain?.stop()));
  }

  #start(member: Member): void {
    const starting = member.start().finally(() => this.#starting.delete(starting));
    this.#starting.add(starting);
  }

  #member(facts: { no: number; name: string; life: SignOfLife; open(): Promise<MemberStore>; opened?: MemberStore }): Member {
    const { directory, prepare, onAway, onReachable, onTopic } = this.#parts;
    const member: Member = new Member({
      ...facts,
      shared: directory,
      async prepare(store) {
        // Until then, an event would not start the functions that are not known here.
        await Promise.all(TOPICS.map(onTopic));
        await prepare(member, store);
      },
      onAway: (reason) => onAway(facts.name, reason),
      onReachable() {
        onReachable(facts.name);
        for (const topic of ["directory", ...TOPICS] as const) void onTopic(topic);
      },
    });
    return member;
  }
}
