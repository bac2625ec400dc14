/** The shared store: PostgreSQL, for any number of nodes. */

import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { activityStore } from "../activity/postgres.ts";
import { admissionStore } from "../admissions/postgres.ts";
import { alertStore } from "../alerts/postgres.ts";
import { appStore } from "../apps/postgres.ts";
import { auditStore } from "../audit-log/postgres.ts";
import { cancellationStore } from "../cancellations/postgres.ts";
import {
  type CommitFigures,
  type CompileWhere,
  type EventAppendResult,
  type EventBatch,
  type EventStore,
  type LeasedEntry,
  type Store,
  StoreRefused,
  StoreUnavailable,
  type WaitRules,
} from "../contract/index.ts";
import { dedupKeyStore } from "../dedup-keys/postgres.ts";
import { environmentStore } from "../environments/postgres.ts";
import { erasureStore } from "../erasure/postgres.ts";
import { eventSchemaStore } from "../event-schemas/postgres.ts";
import { eventShapeStore } from "../event-shapes/postgres.ts";
import { eventTypeStore } from "../event-types/postgres.ts";
import { followEvents, getEvent, sequenceBefore } from "../events/postgres/follow-events.ts";
import { InternedIds } from "../events/postgres/interned-ids.ts";
import { listEvents } from "../events/postgres/list-events.ts";
import { settledSequence } from "../events/postgres/settled-sequence.ts";
import { createInternIds, createWriteEvents } from "../events/postgres/write-events.ts";
import { failureStateStore } from "../failure-states/postgres.ts";
import { functionStartStore } from "../function-starts/postgres/function-starts.ts";
import { idempotencyStore } from "../idempotency-keys/postgres.ts";
import { jobStore } from "../jobs/postgres.ts";
import { keyStore } from "../keys/postgres.ts";
import { leadershipStore } from "../leadership/postgres.ts";
import { mirrorStore } from "../mirrors/postgres.ts";
import { orderStore } from "../orders/postgres.ts";
import { queueStore } from "../queue/postgres/queue.ts";
import { realtimeStore } from "../realtime/postgres.ts";
import { resumptionStore } from "../resumptions/postgres/continue-resumptions.ts";
import { retentionStore } from "../retention/postgres.ts";
import type { Decision, DecisionResult } from "../runs/postgres/decisions.ts";
import { runStore } from "../runs/postgres/runs.ts";
import { createWriteDecisions } from "../runs/postgres/write-decisions.ts";
import { openKeyHash } from "../secrets/postgres/key-hash.ts";
import { openSecretBox } from "../secrets/postgres/reseal.ts";
import type { SecretBox } from "../secrets/rows/secret-box.ts";
import { sessionStore } from "../sessions/postgres.ts";
import { signalStore } from "../signals/postgres.ts";
import { trafficStore } from "../traffic/postgres.ts";
import { webhookRequestStore } from "../webhook-requests/postgres/webhook-requests.ts";
import { webhookStore } from "../webhooks/postgres.ts";
import { Database, type DatabaseOptions } from "./database.ts";
import { GroupCommit } from "./group-commit.ts";
import type { Notices } from "./group-writes.ts";
import { createAnnounced } from "./nodes/announce.ts";
import { Listeners } from "./nodes/listeners.ts";
import { Heartbeat } from "./nodes/nodes.ts";
import { Notifications } from "./nodes/notifications.ts";
import { analyzeYoungTables } from "./schema/analyze-young-tables.ts";
import { migrate, SCHEMA_FOLDER, schemaKnown } from "./schema/migrate.ts";

export interface PostgresStoreOptions extends Pick<DatabaseOptions, "url" | "timeoutMs" | "onFault" | "onRecovery"> {
  connectionsMax?: number;
  /** How often this node looks for what no notification told it of. */
  pollIntervalMs?: number;
  /** The URL for LISTEN, if it differs: a transaction-pooling proxy does not support it. "off": no LISTEN. */
  listenUrl?: string;
  /** The keys that encrypt secrets: the first encrypts, all decrypt. Without one, a key is stored in the database. */
  encryptionKeys?: readonly string[];
  /** How waits are found. Not needed if no functions run. */
  rules?: WaitRules;
  /** How payloads are searched. Not needed if they are not. */
  compileWhere?: CompileWhere;
  /** Version of this program, shown to people. */
  version?: string;
  onCommitted?(figures: CommitFigures): void;
  /** The schema that this program knows; set only to test two releases side by side. */
  schemaFolder?: URL;
}

const ANALYZE_INTERVAL_MS = 5_000;

/** Throws StoreRefused if the database must not be used, or cannot be reached. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const {
    rules = NO_RULES,
    compileWhere = withoutRules,
    connectionsMax = 10,
    pollIntervalMs = 5_000,
    listenUrl = options.url,
    version = "unknown",
    schemaFolder = SCHEMA_FOLDER,
  } = options;
  const database = new Database({ ...options, connectionsMax, listenUrl: listenUrl === "off" ? null : listenUrl });
  const node = `${hostname().replace(/\s/g, "-")}-${process.pid}-${randomBytes(4).toString("hex")}`;
  const notifications = new Notifications(database, node, pollIntervalMs);
  const heartbeat = new Heartbeat(database, { node, version, schemaKnown: schemaKnown(schemaFolder) });
  let box: SecretBox;
  let keyHash: Store["storeKeyHash"];
  try {
    await migrate(database, schemaFolder);
    await heartbeat.start();
    const secrets = openSecrets(database, options.encryptionKeys ?? []);
    [{ box, keyHash }] = await Promise.all([secrets, database.readClock(), notifications.start()]);
  } catch (error) {
    await heartbeat.stop();
    await Promise.all([notifications.stop(), database.stop()]);
    if (!(error instanceof StoreUnavailable)) throw error;
    throw new StoreRefused(`the database cannot be used: ${error.message}. See --database-url.`, error);
  }
  const announced = createAnnounced(database, node);
  const resumptions = new Listeners<() => void>();
  const notify = (notices: Notices) => {
    notifications.notify(notices);
    if (notices.hasResumptions) resumptions.notify();
  };
  const interned = new InternedIds();
  const queue = queueStore({
    database,
    notify,
    watch: (listener) => notifications.queue.add(listener),
    watchLimits: (listener) => notifications.limits.add(listener),
  });
  const release = (entries: readonly LeasedEntry[]) => queue.queueRelease({ entries, now: database.now() });
  const ways = { interned, rules, notify };
  const events = new GroupCommit<EventBatch, EventAppendResult>({
    database,
    prepare: createInternIds(ways, database),
    write: createWriteEvents(ways),
    onCommitted: (durationMs, kept) => {
      const stored = kept.reduce((sum, { ids, duplicates }) => sum + ids.length - duplicates, 0);
      options.onCommitted?.({ durationMs, events: stored });
    },
    release,
  });
  const decisions = new GroupCommit<Decision, DecisionResult>({
    database,
    write: createWriteDecisions(ways),
    onCommitted: (durationMs) => options.onCommitted?.({ durationMs, events: 0 }),
    release,
  });
  const analyzing = setInterval(() => void analyzeYoungTables(database).catch(() => {}), ANALYZE_INTERVAL_MS).unref();
  let stopped: Promise<void> | null = null;

  async function close(): Promise<void> {
    clearInterval(analyzing);
    await Promise.all([events.stop(), decisions.stop()]);
    await notifications.stop();
    await heartbeat.stop();
    await database.stop();
  }

  return {
    ...eventStore(database, events, notifications, compileWhere),
    ...dedupKeyStore(database),
    ...environmentStore(database, announced),
    ...keyStore(database, announced, box),
    ...cancellationStore(database),
    ...realtimeStore(database, node, notifications.realtime),
    ...sessionStore(database),
    ...auditStore(database),
    ...idempotencyStore(database),
    ...eventTypeStore(database),
    ...eventSchemaStore(database, announced),
    ...eventShapeStore(database),
    ...trafficStore(database),
    ...activityStore(database),
    ...webhookStore(database, announced, box),
    ...webhookRequestStore(database, events),
    ...appStore({ database, announced, notify }),
    ...queue,
    ...admissionStore({ database, notify }),
    ...orderStore({ database, notify }),
    ...signalStore({ database, notify }),
    ...resumptionStore({ database, rules, notify, watch: (listener) => resumptions.add(listener) }),
    ...runStore({ database, writer: decisions, notify, compileWhere, box, watch: (listener) => notifications.runs.add(listener) }),
    ...failureStateStore(database),
    ...alertStore(database),
    ...mirrorStore(database),
    ...jobStore({ database, notify }),
    ...retentionStore(database),
    ...erasureStore(database),
    ...functionStartStore(database, decisions),
    ...leadershipStore(database),
    storeNode: node,
    storeIsShared: true,
    storeNow: () => database.now(),
    storeKeyHash: keyHash,
    storeWatch: (listener) => notifications.topics.add(listener),
    async storeProbe() {
      heartbeat.refuseTooOld();
      await database.query("UPDATE probe SET written_at = written_at + 1");
    },
    async storeBytes() {
      const [row] = await database.read<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
      return row?.bytes ?? 0;
    },
    storeReport: () => heartbeat.report(),
    stop: () => (stopped ??= close()),
  };
}

async function openSecrets(database: Database, encryptionKeys: readonly string[]) {
  const box = await openSecretBox(database, encryptionKeys);
  return { box, keyHash: await openKeyHash(database, box) };
}

function eventStore(
  database: Database,
  writer: GroupCommit<EventBatch, EventAppendResult>,
  notifications: Notifications,
  compileWhere: CompileWhere,
): EventStore {
  return {
    eventAppend: (batch) => writer.submit(batch, { environmentId: batch.environmentId, rows: batch.events.length, keys: [] }),
    eventGet: (params) => getEvent(database, params),
    eventList: (params) => listEvents(database, params, compileWhere),
    eventFollow: (params) => followEvents(database, params),
    eventSequence: () => settledSequence(database),
    eventSequenceBefore: (params) => sequenceBefore(database, params),
    eventWatch: (listener) => notifications.events.add(listener),
  };
}

function withoutRules(): never {
  throw new Error("this store was opened without the rules of waits and expressions");
}

const NO_RULES: WaitRules = { keyAt: withoutRules, matches: withoutRules };
