/** Remembers what retention removes, so that the model knows every run and event there ever was; and watches that only old ones are removed. */

import type { EnvironmentId, RunId } from "@inlet/protocol";
import type { Removal, RemovalParams, RunDetails, Store, StoredEvent } from "../../src/store/contract/index.ts";
import type { Journal } from "./journal.ts";
import type { QuotaNote } from "./journal-notes.ts";
import { rememberHolders } from "./release-holds.ts";
import { now } from "./virtual-time.ts";

const PAGE = 500;
/** Retention keeps everything for longer. */
const RECENT_MS = 4_000;
/** A tenth of the quota is made free, in whole rows of each kind, which take up to so many bytes together. */
const LEFT_SHARE = 0.9;
const ROWS_BYTES = 8_000;

export class Removals {
  readonly #journal: Journal;
  /** Those that had ended. */
  readonly #runs = new Map<string, RunDetails>();
  readonly #events = new Map<number, StoredEvent>();
  readonly #known = new Map<string, EnvironmentId>();
  readonly #reached = new Map<EnvironmentId, number>();

  /** By environment. Nothing gets old within an instant. */
  readonly #seenAt = { runs: new Map<EnvironmentId, number>(), events: new Map<EnvironmentId, number>() };

  readonly #unansweredSince: Record<"runs" | "events", number | null> = { runs: null, events: null };

  /** Settles when the last removal is over: what one node removes has been seen before, and nobody else removes anything meanwhile. */
  #turn: Promise<unknown> = Promise.resolve();

  /** What is older may be removed: by any node, on several. */
  readonly #until = { runs: 0, events: 0 };

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  async ofRuns(store: Store, { environmentId, ...params }: RemovalParams, remove: () => Promise<Removal>): Promise<Removal> {
    if (environmentId === undefined) return remove();
    return this.#inTurn(async () => {
      await this.#checkQuota(store, environmentId, params.until);
      if (this.#seenAt.runs.get(environmentId) !== now()) await this.#rememberRuns(store, environmentId);
      this.#until.runs = Math.max(this.#until.runs, params.until);
      return this.#watch("runs", remove, (since) => this.#noteRuns(store, environmentId, since));
    });
  }

  async ofEvents(store: Store, { environmentId, ...params }: RemovalParams, remove: () => Promise<Removal>): Promise<Removal> {
    if (environmentId === undefined) return remove();
    return this.#inTurn(async () => {
      await this.#checkQuota(store, environmentId, params.until);
      if (this.#seenAt.events.get(environmentId) !== now()) await this.#rememberEvents(store, environmentId);
      this.#until.events = Math.max(this.#until.events, params.until);
      return this.#watch("events", remove, (since) => this.#noteEvents(store, environmentId, since));
    });
  }

  /** What is not old is removed while a quota of stored bytes is exceeded, and no further than to its share that is left. */
  async #checkQuota(store: Store, environmentId: EnvironmentId, until: number): Promise<void> {
    if (until < now() - RECENT_MS) return;
    const isSet = ({ quota, askedAt, endedAt }: QuotaNote) =>
      quota === "storedBytes" && askedAt <= now() && now() <= endedAt + this.#journal.tellingMs;
    const note = this.#journal.quotas.find(isSet);
    if (!note) return this.#journal.fault("what is not old was removed, and no quota of stored bytes is set");
    const { events, runs, requests } = await store.retentionStoredBytes({ environmentId });
    const stored = events + runs + requests;
    if (stored < note.limit * LEFT_SHARE - ROWS_BYTES)
      this.#journal.fault(`what is not old was removed, with ${stored} bytes where ${note.limit} may be`);
  }

  /** What a removal without a response has removed is noted with the next one. */
  async #watch(kind: "runs" | "events", remove: () => Promise<Removal>, note: (since: number) => Promise<void>): Promise<Removal> {
    const unanswered = this.#unansweredSince[kind];
    const since = unanswered ?? now();
    this.#unansweredSince[kind] = since;
    const removal = await remove();
    if (removal.removed > 0 || unanswered !== null) await note(since);
    this.#unansweredSince[kind] = null;
    return removal;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async remember(store: Store, environmentId: EnvironmentId): Promise<void> {
    await this.#rememberRuns(store, environmentId);
    await this.#rememberEvents(store, environmentId);
  }

  /** Those given, and those that were removed, of an environment. Oldest first. */
  withRuns(environmentId: EnvironmentId, runs: readonly RunDetails[]): RunDetails[] {
    const known = [...this.#runs.values()].filter((run) => run.environmentId === environmentId);
    const all = [...new Map([...known, ...runs].map((run) => [run.id, run])).values()];
    return all.map((run) => ({ ...run, event: run.event ?? this.#eventOf(run) })).sort((a, b) => a.no - b.no);
  }

  withEvents(environmentId: EnvironmentId, events: readonly StoredEvent[]): StoredEvent[] {
    const known = [...this.#events.values()].filter((event) => event.environmentId === environmentId);
    const all = new Map([...known, ...events].map((event) => [event.sequence, event]));
    return [...all.values()].sort((a, b) => a.sequence - b.sequence);
  }

  async #rememberRuns(store: Store, environmentId: EnvironmentId): Promise<void> {
    this.#seenAt.runs.set(environmentId, now());
    await rememberHolders(store, environmentId, this.#journal);
    for (const { id, endedAt } of await listRuns(store, environmentId)) {
      this.#known.set(id, environmentId);
      if (endedAt === null || this.#runs.has(id)) continue;
      const run = await store.runGet({ environmentId, id });
      if (run) this.#runs.set(id, run);
    }
  }

  async #rememberEvents(store: Store, environmentId: EnvironmentId): Promise<void> {
    this.#seenAt.events.set(environmentId, now());
    for (;;) {
      const { events, reached } = await store.eventFollow({ environmentId, after: this.#reached.get(environmentId) ?? 0, limit: PAGE });
      for (const event of events) this.#events.set(event.sequence, event);
      if (events.length === 0) return;
      this.#reached.set(environmentId, reached);
    }
  }

  /** It may have been removed before the run was seen for the first time. */
  #eventOf({ eventSequence }: RunDetails): RunDetails["event"] {
    const event = this.#events.get(eventSequence);
    return event ? { id: event.id, name: event.name, preview: "" } : null;
  }

  async #noteRuns(store: Store, environmentId: EnvironmentId, since: number): Promise<void> {
    // Another node may get to know more, and remove more, while this one lists those that are there.
    const known = [...this.#known];
    const present = new Set((await listRuns(store, environmentId)).map(({ id }) => id as string));
    const until = this.#until.runs;
    for (const [id, home] of known) {
      if (home !== environmentId || present.has(id)) continue;
      this.#known.delete(id);
      this.#journal.removedRuns.set(id, { since, by: now() });
      const endedAt = this.#runs.get(id)?.endedAt ?? null;
      if (endedAt === null)
        this.#journal.fault(`run ${id} was removed, which ${this.#journal.endedRuns.has(id) ? "nobody had seen ended" : "had not ended"}`);
      else if (endedAt > until) this.#journal.fault(`run ${id} was removed ${endedAt - until} ms too early`);
    }
  }

  async #noteEvents(store: Store, environmentId: EnvironmentId, since: number): Promise<void> {
    const known = [...this.#events.values()];
    const present = new Set<number>();
    for (let after = 0; ; ) {
      const { events, reached } = await store.eventFollow({ environmentId, after, limit: PAGE });
      for (const { sequence } of events) present.add(sequence);
      if (events.length === 0) break;
      after = reached;
    }
    const until = this.#until.events;
    for (const { sequence, receivedAt, name, ...event } of known) {
      if (event.environmentId !== environmentId || present.has(sequence) || this.#journal.removedEvents.has(sequence)) continue;
      this.#journal.removedEvents.set(sequence, { since, by: now() });
      if (receivedAt > until) this.#journal.fault(`event ${sequence} (${name}) was removed ${receivedAt - until} ms too early`);
    }
  }
}

/** Removes all that has ended, and counts what is left. */
export async function leftOver(store: Store, environmentId: EnvironmentId): Promise<{ runs: number; events: number }> {
  const params = { environmentId, until: Number.MAX_SAFE_INTEGER, limit: PAGE };
  while (!(await store.eventTypeCount({ limit: PAGE })));
  let runs: Removal = { removed: 0, next: null };
  do runs = await store.runExpireMany({ ...params, after: runs.next });
  while (runs.next !== null);
  let events: Removal = { removed: 0, next: null };
  do events = await store.eventExpireMany({ ...params, after: events.next });
  while (events.next !== null);
  const left = await store.eventFollow({ environmentId, after: 0, limit: PAGE });
  return { runs: (await listRuns(store, environmentId)).filter(({ endedAt }) => endedAt !== null).length, events: left.events.length };
}

async function listRuns(store: Store, environmentId: EnvironmentId): Promise<{ id: RunId; endedAt: number | null }[]> {
  const all: { id: RunId; endedAt: number | null }[] = [];
  for (let after: RunId | null | undefined; after !== null; ) {
    const page: Awaited<ReturnType<Store["runList"]>> = await store.runList({ environmentId, limit: PAGE, ...(after && { after }) });
    all.push(...page.runs);
    after = page.next;
  }
  return all;
}
