/** Works on entries that start functions: events of functions with rules about it, gatherings that are due, and schedules. */

import type { EventIdGenerator } from "@inlet/protocol";
import type { ClaimedEntry, EventSource, Lease, MarkKey, NewEvent, Store, StoredEvent } from "../../store/contract/index.ts";
import type { EventValue } from "../expressions.ts";
import { type FanOut, once } from "../fan-out.ts";
import type { RegisteredFunction, Registry } from "../registry.ts";
import { eventValue } from "../waits.ts";
import { nextTick } from "./crons.ts";
import { decideGathered, decideStart, marksOf, type StartFacts } from "./decide-start.ts";

const CRON_SOURCE: EventSource = { kind: "internal", id: "cron" };

export interface FunctionStartsParts {
  store: Store;
  registry: Registry;
  fanOut: FanOut;
  eventIds: EventIdGenerator;
  lease(): Lease;
  now(): number;
}

export class FunctionStarts {
  readonly #parts: FunctionStartsParts;

  constructor(parts: FunctionStartsParts) {
    this.#parts = parts;
  }

  /** Returns the work that follows, held by this node. */
  async work(entry: ClaimedEntry): Promise<ClaimedEntry[]> {
    const registered = this.#parts.registry.function(entry.functionNo);
    if (!registered || registered.isArchived) return this.#drop(entry);
    if (entry.kind === "cron") return this.#tick(entry, registered);
    return entry.kind === "gather" ? this.#gathered(entry, registered) : this.#requested(entry, registered);
  }

  async #drop({ no }: ClaimedEntry): Promise<ClaimedEntry[]> {
    const { store, lease } = this.#parts;
    await store.queueRemove({ no, node: lease().node });
    return [];
  }

  async #requested(entry: ClaimedEntry, registered: RegisteredFunction): Promise<ClaimedEntry[]> {
    const event = await this.#parts.store.eventAt({ sequence: entry.eventSequence ?? 0 });
    if (!event) return this.#drop(entry);
    const value = eventValue(event);
    const marks = marksOf(registered.config, value);
    const facts = this.#facts(registered, event, value);
    return this.#start(entry, marks, (state) => decideStart(marks, state, facts));
  }

  /** Only the key is known: what was gathered under it is in the mark. */
  async #gathered(entry: ClaimedEntry, registered: RegisteredFunction): Promise<ClaimedEntry[]> {
    const [kind = "", ...rest] = (entry.subject ?? "").split(":");
    const marks = marksOf(registered.config, {}).map((mark) => (mark.kind === kind ? { ...mark, key: rest.join(":") } : mark));
    // The other rules look at the event that is started with, which the mark names.
    const [peeked] = await this.#peek(entry, marks);
    if (!peeked) return this.#drop(entry);
    const value = eventValue(peeked);
    const keys = marksOf(registered.config, value).map((mark, index) => (mark.kind === kind ? (marks[index] as MarkKey) : mark));
    return this.#start(entry, keys, (state) => decideGathered(keys, state, this.#facts(registered, peeked, value)));
  }

  async #peek(entry: ClaimedEntry, marks: readonly MarkKey[]): Promise<StoredEvent[]> {
    const mark = marks.find(({ kind }) => (entry.subject ?? "").startsWith(`${kind}:`));
    const text = mark && (await this.#parts.store.markGet({ functionNo: entry.functionNo, ...mark }));
    const sequences = text ? (JSON.parse(text) as { sequences: number[] }).sequences : [];
    const event = sequences[0] === undefined ? null : await this.#parts.store.eventAt({ sequence: sequences[0] });
    return event ? [event] : [];
  }

  async #start(
    entry: ClaimedEntry,
    marks: readonly MarkKey[],
    decide: Parameters<Store["functionStart"]>[0]["decide"],
  ): Promise<ClaimedEntry[]> {
    const { store, now, lease } = this.#parts;
    const { functionNo, no } = entry;
    return (await store.functionStart({ entryNo: no, functionNo, marks, now: now(), lease: lease(), decide })).handed;
  }

  #facts(registered: RegisteredFunction, event: StoredEvent, value: EventValue): StartFacts {
    const now = this.#parts.now();
    const newRun = (first: StoredEvent, dueAt: number) =>
      this.#parts.fanOut.newRun(
        registered,
        once(() => eventValue(first)),
        dueAt,
        now,
      );
    return { config: registered.config, event, value, now, newRun };
  }

  /** One run for the tick that is due, however late it is; ticks missed in between are not made up for. */
  async #tick(entry: ClaimedEntry, registered: RegisteredFunction): Promise<ClaimedEntry[]> {
    const { eventIds, fanOut, now } = this.#parts;
    const cron = entry.subject ?? "";
    const receivedAt = now();
    const tick = new Date(Math.min(entry.rank, receivedAt)).toISOString();
    const event: NewEvent = {
      id: eventIds.next(receivedAt),
      name: "inngest/scheduled.timer",
      ts: receivedAt,
      dedupId: null,
      data: JSON.stringify({ cron, scheduledAt: tick }),
      extras: null,
    };
    const run = fanOut.newRun(
      registered,
      once(() => eventValue(event)),
      receivedAt,
      receivedAt,
    );
    const { environmentId } = entry;
    const batch = { environmentId, receivedAt, source: CRON_SOURCE, duplicateSince: 0, idsFromSender: false };
    const events = [{ ...batch, events: [{ ...event, runs: [{ ...run, cron }] }] }];
    const next = nextTick(cron, receivedAt);
    // In one transaction with the entry's next time: a crash in between would make one tick two.
    return this.#start(entry, [], () => ({ events, ...(next !== null && { againAt: next }) }));
  }
}
