/** The embedded store: one SQLite file in the data folder, one writer on this thread, readers on another. */

import { statSync } from "node:fs";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { activityStore } from "../activity/sqlite.ts";
import { admissionStore } from "../admissions/sqlite.ts";
import { alertStore } from "../alerts/sqlite.ts";
import { appStore } from "../apps/sqlite.ts";
import { auditStore } from "../audit-log/sqlite.ts";
import { cancellationStore } from "../cancellations/sqlite.ts";
import type { CommitFigures, EventAppendResult, EventBatch, EventStore, Store, StoreReport, WaitRules } from "../contract/index.ts";
import { dedupKeyStore } from "../dedup-keys/sqlite.ts";
import { environmentStore } from "../environments/sqlite.ts";
import { erasureStore } from "../erasure/sqlite.ts";
import { eventSchemaStore } from "../event-schemas/sqlite.ts";
import { eventShapeStore } from "../event-shapes/sqlite.ts";
import { eventTypeStore } from "../event-types/sqlite.ts";
import { prepareAppendEvents } from "../events/sqlite/append-events.ts";
import { InsertEvents } from "../events/sqlite/insert-events.ts";
import { InternedIds } from "../events/sqlite/interned-ids.ts";
import { failureStateStore } from "../failure-states/sqlite.ts";
import { functionStartStore } from "../function-starts/sqlite/function-starts.ts";
import { idempotencyStore } from "../idempotency-keys/sqlite.ts";
import { jobStore } from "../jobs/sqlite.ts";
import { keyStore } from "../keys/sqlite.ts";
import { Limits } from "../limits/sqlite.ts";
import { mirrorStore } from "../mirrors/sqlite.ts";
import { orderStore, RunOrder } from "../orders/sqlite.ts";
import { queueStore } from "../queue/sqlite/queue.ts";
import { QueueEntries } from "../queue/sqlite/queue-entries.ts";
import { realtimeStore } from "../realtime/sqlite.ts";
import { resumptionStore } from "../resumptions/sqlite/continue-resumptions.ts";
import { Resumptions } from "../resumptions/sqlite/resumptions.ts";
import { retentionStore } from "../retention/sqlite.ts";
import { AdvanceRun, type AppendInside } from "../runs/sqlite/advance-run.ts";
import { ChangedRuns } from "../runs/sqlite/changed-runs.ts";
import { RunStates } from "../runs/sqlite/run-state.ts";
import { runStore } from "../runs/sqlite/runs.ts";
import { StartRuns } from "../runs/sqlite/start-runs.ts";
import { StepRows } from "../runs/sqlite/step-rows.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import { openKeyHash } from "../secrets/sqlite/key-hash.ts";
import { openSecretBox } from "../secrets/sqlite/reseal.ts";
import { sessionStore } from "../sessions/sqlite.ts";
import { callListeners } from "../shared/call-listeners.ts";
import { signalStore } from "../signals/sqlite.ts";
import { TrafficRows, trafficStore } from "../traffic/sqlite.ts";
import { ResumeRuns } from "../waits/sqlite/resume-runs.ts";
import { Waits } from "../waits/sqlite/waits.ts";
import { webhookRequestStore } from "../webhook-requests/sqlite/webhook-requests.ts";
import { webhookStore } from "../webhooks/sqlite.ts";
import { Checkpointer } from "./checkpointer.ts";
import { DATABASE_FILE, openWriter } from "./database.ts";
import { checkFile, refuseBadFile } from "./folder/check-file.ts";
import { lockFolder } from "./folder/folder-lock.ts";
import { refuseMoved } from "./folder/moved-folder.ts";
import { makePrivateFolder } from "./folder/private-folder.ts";
import { GroupCommit, type GroupCommitHooks } from "./group-commit.ts";
import { Reader } from "./reader.ts";
import { migrate, schemaKnown } from "./schema/migrate.ts";

export interface SqliteStoreOptions extends Pick<GroupCommitHooks, "onFault" | "onRecovery"> {
  folder: string;
  /** The keys that encrypt secrets: the first encrypts, all decrypt. Without one, a key is stored in the folder. */
  encryptionKeys?: readonly string[];
  /** How waits are found. Not needed if no functions run. */
  rules?: WaitRules;
  /** Exports `compileWhere`. Not needed if payloads are not searched. */
  whereModule?: URL;
  /** Version of this program, shown to people. */
  version?: string;
  onCommitted?(figures: CommitFigures): void;
}

const NODE = "local";

/** Throws StoreRefused if the folder is in use or not writable, or contains a file that must not be used. */
export function openSqliteStore({
  folder,
  encryptionKeys = [],
  rules = NO_RULES,
  whereModule,
  version = "unknown",
  onCommitted,
  ...hooks
}: SqliteStoreOptions): Store {
  makePrivateFolder(folder);
  const lock = lockFolder(folder);
  const path = join(folder, DATABASE_FILE);
  let opened: OpenedDatabase;
  try {
    refuseMoved(folder);
    opened = openWithSecrets(path, folder, encryptionKeys);
  } catch (error) {
    lock.release();
    throw refuseBadFile(path, error);
  }
  const { db, box, keyHash } = opened;
  const reader = new Reader(path, whereModule);
  const checkpointer = new Checkpointer(db, () => reader.read("checkpoint", undefined));
  const watchers = new Set<() => void>();
  let eventsInGroup = 0;
  const onCommit = (durationMs: number) => {
    const events = eventsInGroup;
    eventsInGroup = 0;
    const own = [
      () => onCommitted?.({ durationMs, events }),
      () => checkpointer.noteCommit(),
      () => changed.notify(),
      () => limits.notify(),
    ];
    callListeners(...own, ...watchers);
  };
  const interned = new InternedIds(db);
  const rows = new InsertEvents(db);
  const waits = new Waits(db);
  const changed = new ChangedRuns();
  const limits = new Limits(db);
  const traffic = new TrafficRows(db);
  const beforeCommit = () => traffic.write();
  const onRollback = () => {
    eventsInGroup = 0;
    for (const remembered of [interned, rows, waits, changed, limits, resumeRuns, traffic]) remembered.forget();
  };
  const writer = new GroupCommit(db, { ...hooks, onCommit, beforeCommit, onRollback });
  const states = new RunStates(db, box);
  const entries = new QueueEntries(db);
  const order = new RunOrder(db, limits);
  const steps = new StepRows(db);
  const startRuns = new StartRuns(db, { entries, order, waits, changed, rows, steps });
  const resumptions = new Resumptions(db);
  const resumeRuns = new ResumeRuns({ waits, states, entries, rules, rows, resumptions });
  const events = prepareAppendEvents(db, { rows, interned, entries, startRuns, resumeRuns });
  const append: AppendInside = (allocation, batch) => void events.appendInside(allocation, batch);
  const appendCounted = (batch: EventBatch) => {
    const kept = events.append(batch);
    eventsInGroup += kept.ids.length - kept.duplicates;
    return kept;
  };
  const runs = new AdvanceRun(db, { states, steps, entries, waits, limits, order, resumeRuns, append, changed, traffic });

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
    ...eventStore(appendCounted, writer, reader, watchers),
    ...dedupKeyStore(db, writer),
    ...environmentStore(db, writer),
    ...keyStore(db, writer, box),
    ...cancellationStore(db, writer),
    ...realtimeStore(),
    ...sessionStore(db, writer),
    ...auditStore(db, writer, reader),
    ...idempotencyStore(db, writer),
    ...eventTypeStore(db, writer, reader, traffic),
    ...eventSchemaStore(db, writer),
    ...eventShapeStore(db, writer, reader),
    ...trafficStore(db, writer, reader, traffic),
    ...activityStore(db, writer, reader),
    ...webhookStore(db, writer, box),
    ...webhookRequestStore(db, writer, reader),
    ...appStore(db, writer, entries),
    ...queueStore(db, { writer, reader, limits, order, entries }),
    ...admissionStore(db, { writer, limits, order, entries }),
    ...orderStore(writer, order),
    ...runStore(db, { writer, reader, runs, startRuns, states, changed, box }),
    ...failureStateStore(db, writer),
    ...alertStore(db, writer),
    ...mirrorStore(db, writer),
    ...jobStore(db, { writer, startRuns }),
    ...signalStore({ writer, resumeRuns }),
    ...resumptionStore({ writer, waits, states, resumeRuns, resumptions }),
    ...retentionStore(db, writer),
    ...erasureStore(db, writer),
    ...functionStartStore(db, { writer, states, startRuns, resumeRuns, entries, append }),
    // Only one process uses the store: no other can change anything or take a turn.
    leadershipTake: async () => true,
    leadershipResign: async () => undefined,
    storeNode: NODE,
    storeIsShared: false,
    storeNow: Date.now,
    storeKeyHash: keyHash,
    storeWatch: () => () => {},
    storeProbe: () => writer.submit(() => void probe.run()),
    storeBytes: async () => fileBytes(path),
    storeReport: async () => report(version, startedAt),
    stop: () => (stopped ??= close()),
  };
}

function eventStore(
  append: (batch: EventBatch) => EventAppendResult,
  writer: GroupCommit,
  reader: Reader,
  watchers: Set<() => void>,
): EventStore {
  return {
    eventAppend: (batch) => writer.submit(() => append(batch), batch.events.length),
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

/** The file and its write-ahead log. */
function fileBytes(path: string): number {
  return [path, `${path}-wal`].reduce((sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0), 0);
}

/** One node, this process, which is alive because it responds. Opening the file migrated it to the known schema. */
function report(version: string, startedAt: number): StoreReport {
  const node = { name: NODE, version, since: startedAt, lastSeenAt: Date.now(), isGone: false };
  return { engine: "sqlite", schema: schemaKnown(), schemaKnown: schemaKnown(), answerMs: 0, nodes: [node] };
}

interface OpenedDatabase {
  db: DatabaseSync;
  box: SecretBox;
  keyHash(key: string): string;
}

function openWithSecrets(path: string, folder: string, encryptionKeys: readonly string[]): OpenedDatabase {
  const db = openChecked(path);
  try {
    const box = openSecretBox(db, folder, encryptionKeys);
    return { db, box, keyHash: openKeyHash(db, box) };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Migrates the file to the schema of this program. Throws errors that `refuseBadFile` understands. */
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
  throw new Error("this store was opened without the rules of waits");
}

const NO_RULES: WaitRules = { keyAt: withoutRules, matches: withoutRules };
