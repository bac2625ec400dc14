/** The embedded store: one SQLite file in the data folder, one writer on this thread, readers on another. */

import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { EventStore, RunRules, Store, StoreReport } from "../contract/index.ts";
import { AdvanceRun } from "./advance-run.ts";
import { type AppendEvents, prepareAppendEvents } from "./append-events.ts";
import { appStore } from "./apps.ts";
import { auditStore } from "./audit-log.ts";
import { ChangedRuns } from "./changed-runs.ts";
import { checkFile, refuseBadFile } from "./check-file.ts";
import { Checkpointer } from "./checkpointer.ts";
import { DATABASE_FILE, openWriter } from "./database.ts";
import { dedupKeyStore } from "./dedup-keys.ts";
import { environmentStore } from "./environments.ts";
import { EventTypeSums } from "./event-type-sums.ts";
import { eventTypeStore } from "./event-types.ts";
import { EventWords } from "./event-words.ts";
import { lockFolder } from "./folder-lock.ts";
import { functionStartStore } from "./function-starts.ts";
import { GroupCommit, type GroupCommitHooks } from "./group-commit.ts";
import { idempotencyStore } from "./idempotency-keys.ts";
import { InsertEvents } from "./insert-events.ts";
import { keyStore } from "./keys.ts";
import { Lanes } from "./lanes.ts";
import { migrate, schemaKnown } from "./migrate.ts";
import { refuseMoved } from "./moved-folder.ts";
import { placeStore } from "./places.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { queueStore } from "./queue.ts";
import { QueueEntries } from "./queue-entries.ts";
import { Reader } from "./reader.ts";
import { ResumeRuns } from "./resume-runs.ts";
import { retentionStore } from "./retention.ts";
import { RunStates } from "./run-state.ts";
import { runStore } from "./runs.ts";
import { sessionStore } from "./sessions.ts";
import { StartRuns } from "./start-runs.ts";
import { trafficStore } from "./traffic.ts";
import { Waits } from "./waits.ts";
import { webhookRequestStore } from "./webhook-requests.ts";
import { webhookStore } from "./webhooks.ts";

export interface SqliteStoreOptions extends Pick<GroupCommitHooks, "onFault" | "onRecovery"> {
  folder: string;
  /** How events change the runs that wait for them. Not needed by who runs no functions. */
  rules?: RunRules;
  /** Of this program, for people to see. */
  version?: string;
}

const NODE = "local";

/** Throws StoreRefused when the folder is in use, cannot be written, or holds a file that must not be used. */
export function openSqliteStore({ folder, rules = NO_RULES, version = "unknown", ...hooks }: SqliteStoreOptions): Store {
  makePrivateFolder(folder);
  const lock = lockFolder(folder);
  const path = join(folder, DATABASE_FILE);
  let db: DatabaseSync;
  try {
    refuseMoved(folder);
    db = openChecked(path);
  } catch (error) {
    lock.release();
    throw refuseBadFile(path, error);
  }
  const reader = new Reader(path);
  const checkpointer = new Checkpointer(db, () => reader.read("checkpoint", undefined));
  const watchers = new Set<() => void>();
  const onCommit = () => {
    checkpointer.noteCommit();
    changed.tell();
    for (const watcher of watchers) watcher();
  };
  const words = new EventWords(db);
  const rows = new InsertEvents(db);
  const sums = new EventTypeSums();
  const lanes = new Lanes(db);
  const waits = new Waits(db);
  const changed = new ChangedRuns();
  const onRollback = () => {
    for (const remembered of [words, rows, sums, lanes, waits, changed]) remembered.forget();
  };
  const writer = new GroupCommit(db, { ...hooks, writeAppended: () => rows.flush(), onCommit, onRollback });
  const states = new RunStates(db);
  const entries = new QueueEntries(db, lanes);
  const startRuns = new StartRuns(db, { lanes, entries, waits, changed });
  // A run may give rise to events, and an event may change runs: the two know each other.
  const events: AppendEvents = prepareAppendEvents(db, { rows, words, sums, startRuns, resumeRuns: () => resumeRuns });
  const append = (...inside: Parameters<AppendEvents["appendInside"]>) => {
    events.appendInside(...inside);
    rows.flush();
  };
  const runs = new AdvanceRun(db, { states, entries, waits, rules, append, changed });
  const resumeRuns = new ResumeRuns({ waits, states, runs, rules, rows });
  reader.start();

  const startedAt = Date.now();
  const probe = db.prepare("UPDATE probe SET written_at = written_at + 1");
  let stopped: Promise<void> | null = null;

  async function close(): Promise<void> {
    writer.stop();
    checkpointer.stop();
    await reader.stop();
    db.close();
    lock.release();
  }

  return {
    ...eventStore(events, writer, reader, watchers),
    ...dedupKeyStore(db, writer),
    ...environmentStore(db, writer),
    ...keyStore(db, writer),
    ...sessionStore(db, writer),
    ...auditStore(db, writer, reader),
    ...idempotencyStore(db, writer),
    ...eventTypeStore(db, writer, reader, sums),
    ...trafficStore(db, writer, reader),
    ...webhookStore(db, writer),
    ...webhookRequestStore(db, writer, reader),
    ...appStore(db, writer, entries),
    ...queueStore(db, writer, reader, lanes, entries),
    ...placeStore(db, writer, lanes, entries),
    ...runStore(db, { writer, reader, runs, startRuns, states, changed }),
    ...retentionStore(db, writer),
    ...functionStartStore(db, { writer, states, runs, startRuns, entries, rules, append }),
    // One process at a time: nobody else could change anything.
    storeNode: NODE,
    storeIsShared: false,
    storeNow: Date.now,
    storeWatch: () => () => {},
    storeProbe: () => writer.submit(() => void probe.run()),
    storeReport: async () => report(version, startedAt),
    stop: () => (stopped ??= close()),
  };
}

function eventStore(events: AppendEvents, writer: GroupCommit, reader: Reader, watchers: Set<() => void>): EventStore {
  return {
    eventAppend: (batch) => writer.submitAppend(() => events.append(batch), batch.events.length),
    eventGet: (params) => reader.read("eventGet", params),
    eventList: (params) => reader.read("eventList", params),
    eventFollow: (params) => reader.read("eventFollow", params),
    eventSequence: () => reader.read("eventSequence", undefined),
    eventSequenceBefore: (params) => reader.read("eventSequenceBefore", params),
    eventWatch(listener) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
  };
}

/** One node, this process: it answers, so it is there. Opening the file brought it to the schema that is known. */
function report(version: string, startedAt: number): StoreReport {
  const node = { name: NODE, version, since: startedAt, lastSeenAt: Date.now(), isGone: false };
  return { engine: "sqlite", schema: schemaKnown(), schemaKnown: schemaKnown(), answerMs: 0, nodes: [node] };
}

/** The file brought to the schema of this program. Throws what `refuseBadFile` understands. */
export function openChecked(path: string): DatabaseSync {
  const db = openWriter(path);
  try {
    checkFile(db, path);
    migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
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
