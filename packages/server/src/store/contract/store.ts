/**
 * The interface between the service and its store, split by noun. One conformance suite (../conformance) defines it for every engine.
 *
 * An operation either takes full effect, durably, before its promise resolves, or has no effect. If the engine cannot be
 * reached or written to, it throws StoreUnavailable, which is retryable: nothing was stored.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { ActivityStore } from "../activity/contract.ts";
import type { AdmissionStore } from "../admissions/contract.ts";
import type { AlertStore } from "../alerts/contract.ts";
import type { ApprovalStore } from "../approvals/contract.ts";
import type { AppStore } from "../apps/contract.ts";
import type { AuditStore } from "../audit-log/contract.ts";
import type { CancellationStore } from "../cancellations/contract.ts";
import type { DatabaseStore } from "../databases/contract.ts";
import type { DedupKeyStore } from "../dedup-keys/contract.ts";
import type { EnvironmentStore } from "../environments/contract.ts";
import type { ErasureStore } from "../erasure/contract.ts";
import type { EventSchemaStore } from "../event-schemas/contract.ts";
import type { EventShapeStore } from "../event-shapes/contract.ts";
import type { EventTypeStore } from "../event-types/contract.ts";
import type { EventStore } from "../events/contract.ts";
import type { FailureStateStore } from "../failure-states/contract.ts";
import type { FunctionStartStore } from "../function-starts/contract.ts";
import type { IdempotencyStore } from "../idempotency-keys/contract.ts";
import type { JobStore } from "../jobs/contract.ts";
import type { KeyStore } from "../keys/contract.ts";
import type { LeadershipStore } from "../leadership/contract.ts";
import type { MirrorStore } from "../mirrors/contract/mirrors.ts";
import type { EnvironmentMoveStore } from "../moves/contract.ts";
import type { OrderStore } from "../orders/contract.ts";
import type { QueueStore } from "../queue/contract.ts";
import type { RealtimeStore } from "../realtime/contract.ts";
import type { ReconciliationStore } from "../reconciliations/contract/reconciliations.ts";
import type { ResumptionStore } from "../resumptions/contract.ts";
import type { RetentionStore } from "../retention/contract.ts";
import type { RunStore } from "../runs/contract/run-store.ts";
import type { SavedFilterStore } from "../saved-filters/contract.ts";
import type { SessionStore } from "../sessions/contract.ts";
import type { SignalStore } from "../signals/contract.ts";
import type { TrafficStore } from "../traffic/contract.ts";
import type { UsageStore } from "../usage/contract.ts";
import type { WebhookRequestStore } from "../webhook-requests/contract.ts";
import type { WebhookStore } from "../webhooks/contract.ts";
import type { ReplicaReport } from "./replica-reports.ts";
import type { StoreViews } from "./views.ts";

export interface Store
  extends EventStore,
    DedupKeyStore,
    ErasureStore,
    EnvironmentStore,
    EnvironmentMoveStore,
    DatabaseStore,
    KeyStore,
    WebhookStore,
    WebhookRequestStore,
    AppStore,
    QueueStore,
    AdmissionStore,
    OrderStore,
    RunStore,
    SignalStore,
    ApprovalStore,
    CancellationStore,
    RealtimeStore,
    RetentionStore,
    FailureStateStore,
    SavedFilterStore,
    FunctionStartStore,
    SessionStore,
    AuditStore,
    IdempotencyStore,
    JobStore,
    AlertStore,
    MirrorStore,
    EventTypeStore,
    EventSchemaStore,
    EventShapeStore,
    TrafficStore,
    UsageStore,
    ActivityStore,
    ReconciliationStore,
    ResumptionStore,
    LeadershipStore,
    StoreItself {}

/** What belongs to no noun. */
export interface StoreItself {
  /** Waits for operations in progress, then closes the store. Idempotent. */
  stop(): Promise<void>;
  /** The name under which this process holds leases, unique among the nodes that share the store. */
  readonly storeNode: string;
  /** Whether other nodes may share it. */
  readonly storeIsShared: boolean;
  /** The time, the same for every node that shares the store. */
  storeNow(): number;
  /**
   * Hashes a key that was computed from an event. The store is given only such hashes as parts of lanes, marks, limits and orders, so that
   * they can be compared, and nothing of the event can be read from them. Equal on every node, also after a restart.
   */
  storeKeyHash(key: string): string;
  /** The secret token of the link to an object with this id: 128 bits, which nobody without the store's secret can compute. Never stored. */
  storeLinkToken(id: string): string;
  /**
   * Calls `listener` when another node changed data that is cached in memory. A promise that it returns resolves when the data has been read, and
   * never rejects: one of several databases is not used before. Returns a function that stops it.
   */
  storeWatch(listener: (topic: StoreTopic) => unknown): () => void;
  /**
   * Reads for people to look at, which a read replica may answer. They contain whatever was committed before the call, on any node: a
   * client sees its own writes, and a page continues where the one before it ended.
   */
  readonly storeViews: StoreViews;
  /** Throws StoreUnavailable unless the store is writable now. */
  storeProbe(): Promise<void>;
  /** The size of the store on disk. */
  storeBytes(): Promise<number>;
  /** The status of the store and of the nodes that share it. */
  storeReport(): Promise<StoreReport>;
  /** The databases that hold its environments, the directory first. Work that keeps its progress per database asks each by itself. */
  storeDatabases(): readonly StoreDatabase[];
  /** The number of the database that holds this environment. What is written for several environments of one database is written whole or not at all. */
  storeDatabaseOf(environmentId: EnvironmentId): number;
  /** The read replica of the database, as this node sees it; null: there is none. Of several databases each has its own. */
  storeReplica(): ReplicaReport | null;
}

/** One of the databases of a store, as it was when it was asked for. */
export interface StoreDatabase {
  /** 0: the directory. */
  readonly no: number;
  readonly name: string;
  /** False: it did not answer when it was last asked. Calls fail at once until it does. */
  readonly isReachable: boolean;
  /** The store of this database alone. */
  readonly store: Store;
}

export interface StoreReport {
  engine: "sqlite" | "postgres";
  /** The schema version of the data. Newer than this program's while nodes of two releases run side by side. */
  schema: number;
  schemaKnown: number;
  /** How long the store took to respond to this query. */
  answerMs: number;
  nodes: NodeReport[];
}

export interface NodeReport {
  name: string;
  version: string;
  since: number;
  lastSeenAt: number;
  /** Silent for so long that it must have died: a node that stops removes itself from the list. */
  isGone: boolean;
}

/** What nodes cache in memory: environments, databases, keys and webhooks; apps and functions; declared schemas. */
export const STORE_TOPICS = ["directory", "registry", "catalogue"] as const;
export type StoreTopic = (typeof STORE_TOPICS)[number];

/** The outcome of one transaction of the group commit, for metrics. */
export interface CommitFigures {
  durationMs: number;
  /** Events that it stored. */
  events: number;
}

/** The store is temporarily unusable. `reason` is a sentence for the log. */
export class StoreUnavailable extends Error {
  readonly retry = "retryable";

  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = "StoreUnavailable";
  }
}

/** The archive cannot be used. `file`: the one that cannot be read, if it is one. */
export class ArchiveUnusable extends StoreUnavailable {
  readonly file: string | null;

  constructor(reason: string, file: string | null, cause?: unknown) {
    super(reason, cause);
    this.file = file;
  }
}

/**
 * The database refused the write because the environment is moving to another, or has moved. Nothing was written there. The placement that
 * led there may be out of date: with the current one the write may succeed elsewhere.
 */
export class EnvironmentMoved extends StoreUnavailable {}

/** The store must not be used: in use by another process, damaged, or newer than this program. The message says what to do. */
export class StoreRefused extends Error {
  readonly retry = "terminal";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StoreRefused";
  }
}
