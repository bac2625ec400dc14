/** The shared store: PostgreSQL, for any number of nodes. */

import { activityStore } from "../activity/postgres.ts";
import { admissionStore } from "../admissions/postgres.ts";
import { alertStore } from "../alerts/postgres.ts";
import { approvalStore } from "../approvals/postgres/approval-store.ts";
import { appStore } from "../apps/postgres.ts";
import { auditStore } from "../audit-log/postgres.ts";
import { cancellationStore } from "../cancellations/postgres.ts";
import {
  type CommitFigures,
  type CompileWhere,
  type EnvironmentCopies,
  type LeasedEntry,
  type Store,
  viewsOf,
  type WaitRules,
} from "../contract/index.ts";
import { databaseStore } from "../databases/postgres/database-store.ts";
import { dedupKeyStore } from "../dedup-keys/postgres.ts";
import { environmentStore } from "../environments/postgres.ts";
import { erasureStore } from "../erasure/postgres.ts";
import { eventSchemaStore } from "../event-schemas/postgres.ts";
import { eventShapeStore } from "../event-shapes/postgres.ts";
import { eventTypeStore } from "../event-types/postgres.ts";
import { eventStore } from "../events/postgres/event-store.ts";
import { failureStateStore } from "../failure-states/postgres.ts";
import { functionStartStore } from "../function-starts/postgres/function-starts.ts";
import { idempotencyStore } from "../idempotency-keys/postgres.ts";
import { jobStore } from "../jobs/postgres/job-store.ts";
import { keyStore } from "../keys/postgres.ts";
import { leadershipStore } from "../leadership/postgres.ts";
import { mirrorStore } from "../mirrors/postgres.ts";
import type { MoveTiming } from "../moves/postgres/move-environment.ts";
import { environmentMoveStore } from "../moves/postgres/move-store.ts";
import { orderStore } from "../orders/postgres.ts";
import { queueStore } from "../queue/postgres/queue.ts";
import { realtimeStore } from "../realtime/postgres/realtime-store.ts";
import { reconciliationStore } from "../reconciliations/postgres.ts";
import { resumptionStore } from "../resumptions/postgres/continue-resumptions.ts";
import { retentionStore } from "../retention/postgres.ts";
import { runStore } from "../runs/postgres/runs.ts";
import { savedFilterStore } from "../saved-filters/postgres.ts";
import { sessionStore } from "../sessions/postgres.ts";
import { NO_RULES, withoutRules } from "../shared/no-rules.ts";
import { signalStore } from "../signals/postgres.ts";
import { trafficStore } from "../traffic/postgres.ts";
import { usageStore } from "../usage/postgres.ts";
import { webhookRequestStore } from "../webhook-requests/postgres/webhook-requests.ts";
import { webhookStore } from "../webhooks/postgres.ts";
import type { Database } from "./database.ts";
import { createAnnounced } from "./nodes/announce.ts";
import { Listeners } from "./nodes/listeners.ts";
import { CONNECTIONS_MAX, type NodeOptions, type OpenNode, openNode } from "./nodes/open-node.ts";
import type { Notices } from "./pending-writes.ts";
import { Replica, type ReplicaStatus } from "./replica/replica.ts";
import { viewingDatabase } from "./replica/viewing-database.ts";
import { analyzeYoungTables } from "./schema/analyze-young-tables.ts";
import { storeItself } from "./store-itself.ts";
import { createWriters } from "./writers.ts";

export interface PostgresStoreOptions extends NodeOptions {
  /** How waits are found. Not needed if no functions run. */
  rules?: WaitRules;
  /** How payloads are searched. Not needed if they are not. */
  compileWhere?: CompileWhere;
  onCommitted?(figures: CommitFigures): void;
  /** A read replica of the database, for what people look at; absent: the primary answers all reads. */
  readUrl?: string;
  /** Called when the replica is used, or not used any more. */
  onReplica?(status: ReplicaStatus): void;
  /** Of moves of environments; set only by tests. */
  moveTiming?: Partial<MoveTiming>;
}

export type PostgresStore = Store & EnvironmentCopies;

const ANALYZE_INTERVAL_MS = 5_000;

/** Throws StoreRefused if the database must not be used, or cannot be reached. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { rules = NO_RULES, compileWhere = withoutRules, onCommitted } = options;
  const opened = await openNode(options);
  const { node, database, notifications, box } = opened;
  const { keyHash } = opened.hashes;
  const announced = createAnnounced(database, node);
  const resumptions = new Listeners<() => void>();
  const notify = (notices: Notices) => {
    notifications.notify(notices);
    if (notices.hasResumptions) resumptions.notify();
  };
  const queueOf = (of: Database) =>
    queueStore({
      database: of,
      notify,
      watch: (listener) => notifications.queue.add(listener),
      watchLimits: (listener) => notifications.limits.add(listener),
    });
  const queue = queueOf(database);
  const release = (entries: readonly LeasedEntry[]) => queue.queueRelease({ entries, now: database.now() });
  const { events, decisions, parts } = createWriters({ database, keyHash, rules, notify, release, onCommitted });
  const databases = databaseStore({ database, node, box });
  const { stop: movesStop, ...moves } = environmentMoveStore({
    directory: database,
    node,
    members: databases.databaseList,
    timing: options.moveTiming ?? {},
  });
  const analyzing = setInterval(() => void analyzeYoungTables(database).catch(() => {}), ANALYZE_INTERVAL_MS).unref();
  const replica = openReplica(options, opened);
  async function stop(): Promise<void> {
    clearInterval(analyzing);
    await Promise.all([events.stop(), decisions.stop(), replica?.stop(), movesStop()]);
    await opened.close();
  }
  const nounsOf = (database: Database) => ({
    ...eventStore({ database, writer: events, keyHash, watch: (listener) => notifications.events.add(listener), compileWhere }),
    ...dedupKeyStore(database),
    ...environmentStore(database, announced),
    ...databases,
    ...moves,
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
    ...usageStore(database),
    ...activityStore(database),
    ...webhookStore(database, announced, box),
    ...webhookRequestStore(database, events),
    ...appStore({ database, announced, notify }),
    ...queueOf(database),
    ...admissionStore({ database, notify }),
    ...orderStore({ database, notify }),
    ...signalStore({ database, notify }),
    ...approvalStore({ ...parts, database }),
    ...resumptionStore({ database, rules, notify, watch: (listener) => resumptions.add(listener) }),
    ...runStore({ database, writer: decisions, notify, compileWhere, box, watch: (listener) => notifications.runs.add(listener) }),
    ...failureStateStore(database),
    ...savedFilterStore(database),
    ...alertStore({ ...parts, database }),
    ...mirrorStore(database),
    ...jobStore({ database, notify }),
    ...reconciliationStore(database),
    ...retentionStore(database),
    ...erasureStore(database),
    ...functionStartStore(database, decisions),
    ...leadershipStore(database),
  });
  const nouns = nounsOf(database);
  const views = viewsOf(replica ? nounsOf(viewingDatabase(database, replica)) : nouns);
  const store: PostgresStore = { ...nouns, ...storeItself({ ...opened, replica, views, close: stop, whole: () => store }) };
  return store;
}

/** Its first response is not waited for: a replica that is away delays no start. */
function openReplica(options: PostgresStoreOptions, { database, node }: OpenNode): Replica | null {
  const { readUrl, connectionsMax = CONNECTIONS_MAX, onReplica = () => undefined } = options;
  if (readUrl === undefined) return null;
  const replica = new Replica({ primary: database, url: readUrl, connectionsMax, node, onReplica });
  replica.start();
  return replica;
}
