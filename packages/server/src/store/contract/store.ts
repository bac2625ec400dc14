/**
 * What the service asks of its store, split by noun. One conformance suite (../conformance) defines it for every engine.
 *
 * An operation either has its whole effect, durably, before its promise resolves, or none at all. When the engine cannot
 * be reached or written, it throws StoreUnavailable: retryable, and nothing was kept.
 */

import type { AdmissionStore } from "./admissions.ts";
import type { AlertStore } from "./alerts.ts";
import type { AppStore } from "./apps.ts";
import type { AuditStore } from "./audit-log.ts";
import type { CancellationStore } from "./cancellations.ts";
import type { DedupKeyStore } from "./dedup-keys.ts";
import type { EnvironmentStore } from "./environments.ts";
import type { ErasureStore } from "./erasure.ts";
import type { EventSchemaStore } from "./event-schemas.ts";
import type { EventShapeStore } from "./event-shapes.ts";
import type { EventTypeStore } from "./event-types.ts";
import type { EventStore } from "./events.ts";
import type { FunctionStartStore } from "./function-starts.ts";
import type { IdempotencyStore } from "./idempotency-keys.ts";
import type { JobStore } from "./jobs.ts";
import type { KeyStore } from "./keys.ts";
import type { OrderStore } from "./orders.ts";
import type { QueueStore } from "./queue.ts";
import type { RealtimeStore } from "./realtime.ts";
import type { RetentionStore } from "./retention.ts";
import type { RunStore } from "./runs.ts";
import type { SessionStore } from "./sessions.ts";
import type { SignalStore } from "./signals.ts";
import type { TrafficStore } from "./traffic.ts";
import type { TurnStore } from "./turns.ts";
import type { WebhookRequestStore } from "./webhook-requests.ts";
import type { WebhookStore } from "./webhooks.ts";

export interface Store
  extends EventStore,
    DedupKeyStore,
    ErasureStore,
    EnvironmentStore,
    KeyStore,
    WebhookStore,
    WebhookRequestStore,
    AppStore,
    QueueStore,
    AdmissionStore,
    OrderStore,
    RunStore,
    SignalStore,
    CancellationStore,
    RealtimeStore,
    RetentionStore,
    FunctionStartStore,
    SessionStore,
    AuditStore,
    IdempotencyStore,
    JobStore,
    AlertStore,
    EventTypeStore,
    EventSchemaStore,
    EventShapeStore,
    TrafficStore,
    TurnStore {
  /** Waits for what is under way, then lets go of the store. Idempotent. */
  stop(): Promise<void>;
  /** The name under which this process holds work: its own among the nodes that share the store. */
  readonly storeNode: string;
  /** Whether other nodes may share it. */
  readonly storeIsShared: boolean;
  /** The time, the same for every node that shares the store. */
  storeNow(): number;
  /** Calls `listener` when another node changed what is kept in memory. Returns how to stop it. */
  storeWatch(listener: (topic: StoreTopic) => void): () => void;
  /** Throws StoreUnavailable unless the store can be written now. */
  storeProbe(): Promise<void>;
  /** How much room the store takes on disk. */
  storeBytes(): Promise<number>;
  /** What people should know of the store and of those who share it. */
  storeReport(): Promise<StoreReport>;
}

export interface StoreReport {
  engine: "sqlite" | "postgres";
  /** Of the data. Newer than what this program knows while nodes of two releases work side by side. */
  schema: number;
  schemaKnown: number;
  /** How long the store took to answer this. */
  answerMs: number;
  nodes: NodeReport[];
}

export interface NodeReport {
  name: string;
  version: string;
  since: number;
  lastSeenAt: number;
  /** Not seen for so long that it must have died: a node that stops says so, and is not listed. */
  isGone: boolean;
}

/** What nodes keep in memory: environments, keys and webhooks; apps and functions; declared schemas. */
export const STORE_TOPICS = ["directory", "registry", "catalogue"] as const;
export type StoreTopic = (typeof STORE_TOPICS)[number];

/** What became of one transaction of the group commit, for figures. */
export interface CommitFigures {
  durationMs: number;
  /** Events stored by it. */
  events: number;
}

/** The store cannot be used for the moment. `reason` is a sentence for the log. */
export class StoreUnavailable extends Error {
  readonly retry = "retryable";

  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = "StoreUnavailable";
  }
}

/** The store must not be used: held by another process, damaged, or newer than this program. The message says what to do. */
export class StoreRefused extends Error {
  readonly retry = "terminal";

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "StoreRefused";
  }
}
