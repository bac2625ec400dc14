/**
 * Stands before the store of one process. It lets nothing through once the process was killed, refuses while the seed says so, and
 * watches what is committed: the result of a step never changes, and nothing is written to a run that has ended.
 */

import type {
  ClaimedEntry,
  EventBatch,
  EventRemovalParams,
  RemovalParams,
  RunAdmitParams,
  RunAdvanceParams,
  RunChange,
  RunState,
  RunThrottle,
  Store,
} from "../../src/store/contract/index.ts";
import { StoreUnavailable } from "../../src/store/contract/index.ts";
import type { Journal } from "./journal.ts";
import type { Removals } from "./removals.ts";
import { type Life, now, pass as passTime } from "./virtual-time.ts";

/** Results by run and step, as they were first committed. Survives the processes. */
export class CommittedSteps {
  readonly #values = new Map<string, string>();
  readonly #journal: Journal;

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  noteRequest({ events, bodyBytes = 0 }: EventBatch): void {
    const key = events.map(({ id }) => id).join();
    for (const { id } of events) this.#journal.requestOf.set(id, { key, bytes: bodyBytes });
  }

  noteEvents(ids: readonly string[]): void {
    for (const id of ids) {
      if (!this.#journal.storedAt.has(id)) this.#journal.storedAt.set(id, now());
      this.#journal.storedLastAt.set(id, now());
    }
  }

  noteDuration(ms: number): void {
    this.#journal.noteStoreMs(ms);
  }

  noteLost(leaseId: string): void {
    this.#journal.lostLeases.add(leaseId);
  }

  noteNotApplied(runNo: number, entry: NonNullable<RunAdvanceParams["entry"]>): void {
    const { stepId = null } = entry as Partial<ClaimedEntry>;
    this.noteLost(entry.leaseId);
    this.#journal.noteLostOutcome(runNo, stepId);
  }

  noteWritten(leaseId: string): void {
    this.#journal.writtenAt.set(leaseId, now());
  }

  /** `at`: when its throttle was asked. */
  noteAdmission({ functionNo, throttle }: RunAdmitParams, at: number, count: number): void {
    if (throttle && count > 0) this.#journal.noteAdmission(`${functionNo}/${throttle.key}`, at, count);
  }

  note(runId: string, { steps = [], end }: RunChange, state: RunState, askedAt: number): void {
    if (end) this.#journal.endedRuns.add(runId);
    for (const { id, status, endedAt, value } of steps) {
      if (endedAt === null) continue;
      const key = `${runId}/${id}`;
      const isOpen = state.steps.find((step) => step.id === id)?.endedAt == null;
      const before = this.#values.get(key);
      if (before === undefined) {
        this.#values.set(key, `${status} ${value}`);
        this.#journal.stepEndAskedAt.set(key, askedAt);
      } else if (isOpen) this.#journal.fault(`step ${id} of run ${runId} was committed twice: ${before}, then ${status} ${value}`);
    }
  }
}

export interface TapParts {
  store: Store;
  life: Life;
  committed: CommittedSteps;
  isRefusing(): boolean;
  /** How long the store does not answer from now on. */
  stallMs(): number;
  writeMs: number;
  removals: Removals;
  /** Told of every call; null: nobody looks at them. */
  trace: ((name: string, args: readonly unknown[]) => (answer: unknown) => void) | null;
}

const NEVER = new Promise<never>(() => undefined);

export function tapStore(parts: TapParts): Store {
  const { store, life, committed, isRefusing, stallMs, writeMs, removals, trace } = parts;
  const pass = async (call: () => unknown): Promise<unknown> => {
    if (life.isDead) return NEVER;
    if (isRefusing()) throw new StoreUnavailable("the simulation says so");
    const askedAt = now();
    try {
      if (stallMs() > 0) await passTime(stallMs());
      if (life.isDead) return NEVER;
      const result = await call();
      committed.noteDuration(now() - askedAt);
      return life.isDead ? NEVER : result;
    } catch (error) {
      if (life.isDead) return NEVER;
      throw error;
    }
  };
  const advance = (params: RunAdvanceParams) => {
    const askedAt = now();
    let decided: { change: RunChange; state: RunState } | null = null;
    const decide = (state: RunState) => {
      const change = params.decide(state);
      decided = { change, state };
      return change;
    };
    return pass(async () => {
      const result = await store.runAdvance({ ...params, decide });
      if (writeMs > 0) await passTime(writeMs);
      if (params.entry && !life.isDead && !isKept(decided)) committed.noteWritten(params.entry.leaseId);
      if (params.entry && !result.applied) committed.noteNotApplied(params.runNo, params.entry);
      if (decided && result.applied && !life.isDead) committed.note(decided.state.run.id, decided.change, decided.state, askedAt);
      return result;
    });
  };
  const append = (batch: EventBatch) =>
    pass(async () => {
      committed.noteRequest(batch);
      const result = await store.eventAppend(batch);
      committed.noteEvents(result.ids);
      if (writeMs > 0 && batch.webhookRequest) await passTime(writeMs);
      return result;
    });
  const release = (params: Parameters<Store["queueRelease"]>[0]) => {
    for (const { leaseId } of params.entries) committed.noteLost(leaseId);
    return pass(() => store.queueRelease(params));
  };
  const admit = ({ throttle, ...params }: RunAdmitParams) =>
    pass(async () => {
      let askedAt = 0;
      const ask: RunThrottle["admit"] = (remembered, wanted) => {
        askedAt = now();
        return (throttle as RunThrottle).admit(remembered, wanted);
      };
      const watched = { ...params, throttle: throttle && { ...throttle, admit: ask } };
      const result = await store.runAdmitMany(watched);
      if (!life.isDead) committed.noteAdmission(watched, askedAt, result.admitted);
      return result;
    });
  const expireRuns = (params: RemovalParams) => pass(() => removals.ofRuns(store, params, () => store.runExpireMany(params)));
  const expireEvents = (params: EventRemovalParams) => pass(() => removals.ofEvents(store, params, () => store.eventExpireMany(params)));
  const watched: Partial<Record<keyof Store, unknown>> = {
    runAdvance: advance,
    eventAppend: append,
    runAdmitMany: admit,
    queueRelease: release,
    runExpireMany: expireRuns,
    eventExpireMany: expireEvents,
  };
  /** Each database of several is tapped like the whole. */
  const tapped = new Map<Store, Store>();
  const tapOf = (one: Store) => {
    const known = tapped.get(one) ?? tapStore({ ...parts, store: one });
    tapped.set(one, known);
    return known;
  };
  const databases = () => {
    const all = store.storeDatabases();
    return all.length === 1 ? all : all.map((database) => ({ ...database, store: tapOf(database.store) }));
  };
  return new Proxy(store, {
    get(target, name: keyof Store) {
      if (name === "storeDatabases") return databases;
      const member = target[name];
      if (typeof member !== "function" || SYNCHRONOUS.has(name) || name.endsWith("Watch")) return member;
      const passed = (...args: unknown[]) => pass(() => (member as Call).apply(target, args));
      return traced(name, (watched[name] ?? passed) as Call, trace);
    },
  });
}

type Call = (...args: unknown[]) => unknown;

function traced(name: string, call: Call, trace: TapParts["trace"]): Call {
  if (!trace) return call;
  return async (...args) => {
    const end = trace(name, args);
    try {
      const answer = await call(...args);
      end(answer);
      return answer;
    } catch (error) {
      end(error);
      throw error;
    }
  };
}

/** Its entry is still being worked on. */
function isKept(decided: { change: RunChange } | null): boolean {
  return typeof decided?.change.entry === "string";
}

/** These return no promise, and neither does whatever watches. */
const SYNCHRONOUS: ReadonlySet<keyof Store> = new Set<keyof Store>([
  "storeNow",
  "storeKeyHash",
  "storeLinkToken",
  "storeDatabases",
  "storeDatabaseOf",
]);
