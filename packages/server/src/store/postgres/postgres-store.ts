/** The shared store: PostgreSQL, for any number of nodes. */

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { type EntryKey, type EventStore, type RunRules, type Store, StoreRefused, StoreUnavailable } from "../contract/index.ts";
import { Handing } from "../rows/entry-writes.ts";
import { AdvanceRun, type AppendInside } from "./advance-run.ts";
import { createAnnounced } from "./announce.ts";
import { AppendEvents, appendResult, handedEntries } from "./append-events.ts";
import { appStore } from "./apps.ts";
import { auditStore } from "./audit-log.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { dedupKeyStore } from "./dedup-keys.ts";
import { environmentStore } from "./environments.ts";
import { eventTypeStore } from "./event-types.ts";
import { followEvents, getEvent, sequenceBefore } from "./follow-events.ts";
import { functionStartStore } from "./function-starts.ts";
import { GroupWriter } from "./group-writer.ts";
import { idempotencyStore } from "./idempotency-keys.ts";
import { keyStore } from "./keys.ts";
import { KnownRuns } from "./known-runs.ts";
import { listEvents } from "./list-events.ts";
import { MIGRATIONS, migrate, schemaKnown } from "./migrate.ts";
import { NodeBeat } from "./nodes.ts";
import { NumberBlocks } from "./number-blocks.ts";
import { placeStore } from "./places.ts";
import { type AppendOtherwise, PlainEvents } from "./plain-events.ts";
import { queueStore } from "./queue.ts";
import { ResumeRuns } from "./resume-runs.ts";
import { retentionStore } from "./retention.ts";
import type { WrittenRuns } from "./run-columns.ts";
import { RunReads } from "./run-reads.ts";
import { runStore } from "./runs.ts";
import { sessionStore } from "./sessions.ts";
import { settledSequence } from "./settled-sequence.ts";
import { Signals } from "./signals.ts";
import { trafficStore } from "./traffic.ts";
import type { UnitDraft } from "./unit-draft.ts";
import { webhookRequestStore } from "./webhook-requests.ts";
import { webhookStore } from "./webhooks.ts";
import { Words } from "./words.ts";

export interface PostgresStoreOptions extends Pick<DatabaseOptions, "url" | "onFault" | "onRecovery"> {
  connectionsMax?: number;
  /** Where to listen, if not at the same address: no proxy that pools transactions can do that. "off": nowhere. */
  listenUrl?: string;
  /** How events change the runs that wait for them. Not needed by who runs no functions. */
  rules?: RunRules;
  /** Of this program, for people to see. */
  version?: string;
  /** The schema this program knows; another one only where two releases are tried side by side. */
  migrations?: URL;
}

/** Throws StoreRefused when the database must not be used, or cannot be reached. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { rules = NO_RULES, connectionsMax = 10, listenUrl = options.url, version = "unknown", migrations = MIGRATIONS } = options;
  const database = new Database({ ...options, connectionsMax, listenUrl: listenUrl === "off" ? null : listenUrl });
  const node = `${hostname().replace(/\s/g, "-")}-${process.pid}-${randomBytes(4).toString("hex")}`;
  const words = new Words(database);
  const signals = new Signals(database, words, node);
  const beat = new NodeBeat(database, { node, version, schemaKnown: schemaKnown(migrations) });
  try {
    await migrate(database, migrations);
    await database.readClock();
    await beat.start();
    await signals.start();
  } catch (error) {
    await beat.stop();
    await Promise.all([signals.stop(), database.stop()]);
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new StoreRefused(`the database cannot be used: ${error.message}. See --database-url.`, error);
  }
  const known = new KnownRuns(() => signals.isListening);
  signals.runListeners.add((runNos) => known.forget(runNos));
  signals.lossListeners.add(() => known.forgetAll());
  const reads = new RunReads(database, known);
  const blocks = { runs: new NumberBlocks(database, "runs"), entries: new NumberBlocks(database, "entries") };
  const announced = createAnnounced(database, node);
  // A run may give rise to events, and an event may change runs: the two know each other.
  const events = new AppendEvents(new ResumeRuns(() => runs, rules));
  const append: AppendInside = (draft, handing, batch) => void events.append(draft, handing, batch);
  const runs: AdvanceRun = new AdvanceRun(rules, append);
  const announce = (lane: string, dueAt: number) => signals.entryUnheld(lane, dueAt);
  const queue = queueStore({ database, words, reads, announce, watch: (listener) => watch(signals.queueListeners, listener) });
  const letGo = (entries: readonly EntryKey[]) => queue.queueRelease({ entries, node, now: database.now() });
  const onCommit = (drafts: readonly UnitDraft[]) => signalDrafts(signals, drafts);
  const writer = new GroupWriter({ database, reads, known, words, blocks, onCommit, letGo });
  const appendOtherwise = appendAsUnit(writer, events);
  const plain = new PlainEvents({
    ...{ database, words, blocks, events, known, appendOtherwise },
    onCommit: (started) => signalCommit(signals, started, true),
    noteLost: (entries) => writer.noteLost(entries),
  });
  let stopped: Promise<void> | null = null;

  async function close(): Promise<void> {
    await plain.stop();
    await writer.stop();
    await signals.stop();
    await beat.stop();
    await database.stop();
  }

  return {
    ...eventStore(database, (batch) => plain.append(batch) ?? appendOtherwise(batch, false), signals),
    ...dedupKeyStore(database),
    ...environmentStore(database, announced),
    ...keyStore(database, announced),
    ...sessionStore(database),
    ...auditStore(database),
    ...idempotencyStore(database),
    ...eventTypeStore(database),
    ...trafficStore(database),
    ...webhookStore(database, announced),
    ...webhookRequestStore(database, writer),
    ...appStore({ database, announced, blocks: blocks.entries, announceTimers: announce }),
    ...queue,
    ...placeStore({ database, words, announce }),
    ...runStore({ database, writer, reads, known, runs, watch: (listener) => watch(signals.runListeners, listener) }),
    ...retentionStore(database),
    ...functionStartStore({ database, writer, reads, runs, rules, append }),
    storeNode: node,
    storeIsShared: true,
    storeNow: () => database.now(),
    storeWatch: (listener) => watch(signals.topicListeners, listener),
    async storeProbe() {
      beat.refuseTooOld();
      await database.query("UPDATE probe SET written_at = written_at + 1");
    },
    storeReport: () => beat.report(),
    stop: () => (stopped ??= close()),
  };
}

function appendAsUnit(writer: GroupWriter, events: AppendEvents): AppendOtherwise {
  return (batch, wasLost) =>
    writer.submit(
      (draft) => {
        const handing = new Handing(batch.receivedAt, batch.lease);
        const appended = events.append(draft, handing, batch);
        return (written, isWrittenAgain) => ({
          ...appendResult(batch, appended, written, isWrittenAgain),
          handed: handedEntries(draft, handing, written),
        });
      },
      { rows: batch.events.length, wasLost },
    );
}

function eventStore(database: Database, eventAppend: EventStore["eventAppend"], signals: Signals): EventStore {
  return {
    eventAppend,
    eventGet: (params) => getEvent(database, params),
    eventList: (params) => listEvents(database, params),
    eventFollow: (params) => followEvents(database, params),
    eventSequence: () => settledSequence(database),
    eventSequenceBefore: (params) => sequenceBefore(database, params),
    eventWatch: (listener) => watch(signals.eventListeners, listener),
  };
}

function watch<Listener>(listeners: Set<Listener>, listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function signalDrafts(signals: Signals, drafts: readonly UnitDraft[]): void {
  const runNos = drafts.flatMap(({ changedRuns }) => [...changedRuns]);
  const unheld = drafts.flatMap(({ unheld }) => unheld);
  signalCommit(signals, { runNos, unheld }, hasEvents(drafts));
}

/** Requests are followed as events are. */
function hasEvents(drafts: readonly UnitDraft[]): boolean {
  return drafts.some(({ events, rows }) => events.length > 0 || rows.requests.length > 0);
}

function signalCommit(signals: Signals, { runNos, unheld }: Pick<WrittenRuns, "runNos" | "unheld">, areEventsStored: boolean): void {
  if (areEventsStored) signals.eventsStored();
  if (runNos.length > 0) signals.runsChanged(runNos);
  for (const { lane, dueAt } of unheld) signals.entryUnheld(lane, dueAt);
}

function withoutRules(): never {
  throw new Error("this store was opened without the rules of runs");
}

const NO_RULES: RunRules = {
  keyAt: withoutRules,
  matches: withoutRules,
  eventValue: withoutRules,
  resolve: withoutRules,
  cancel: withoutRules,
};
