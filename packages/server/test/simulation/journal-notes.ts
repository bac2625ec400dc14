/** What the journal of a simulation notes. */

import type { DrillKind, JobId, KeyId } from "@inlet/protocol";
import type { Job } from "../../src/store/contract/index.ts";
import type { BatchedEvent, LimitedRule, SimEcho, SimQuota, SimSchema } from "./deeds/deeds.ts";

/**
 * What became of a call. `lost`, `cut`, `hung`: the network's doing, and the service spends an attempt on it. `killed`, `stopped`: the
 * service's own, which costs no attempt.
 */
export type Fate = "under-way" | "answered" | "lost" | "cut" | "hung" | "killed" | "stopped";

export interface CallNote {
  no: number;
  runId: string;
  functionId: string;
  /** The planned step it is for; null: the function itself. */
  stepId: string | null;
  attempt: number;
  dispatchId: string;
  process: number;
  sentAt: number;
  fate: Fate;
  /** When it ended for the service. */
  endedAt: number | null;
  /** The network delivered it to the app twice. */
  wasDoubled: boolean;
  status: number | null;
  answer: string | null;
}

export interface BodyNote {
  call: CallNote;
  runId: string;
  /** `<id>`, `<id>:1`, … as SDKs tell equal ids apart. */
  step: string;
  attempt: number;
  /** Since when the call was entitled to run it: it was sent, or its result before was taken. */
  permittedAt: number;
  startedAt: number;
  /** When the service is known to have its outcome; null: never. */
  keptAt: number | null;
  failed: boolean;
}

/** A function was paused: the service had said so by then, and was asked to resume it at the end. */
export interface PauseNote {
  /** Null: all of them, since the environment was archived. */
  functionId: string | null;
  pausedAt: number;
  resumedAt: number;
}

/** A run was rerun, or may have been: the service went away before it said so. */
export interface RerunNote {
  sourceId: string;
  /** The step from which on; null: the whole run. */
  from: string | null;
  newId: string | null;
  doneAt: number | null;
}

/** Somebody decided an approval. Null: the service went away before it said what became of that. */
export interface DecisionNote {
  approvalId: string;
  no: number;
  decision: "approved" | "rejected";
  by: string;
  outcome: "decided" | "ended" | null;
  askedAt: number;
}

/** The app of a function was removed. */
export interface AppRemovalNote {
  functionId: string;
  askedAt: number;
  removedAt: number;
}

/** Runs of a function were to be cancelled. `endedAt`: when all were, as the service says; null: it may not have been asked to. */
export interface CancellationNote {
  id: string;
  functionId: string;
  key: number | null;
  createdAt: number;
  endedAt: number | null;
}

/** Somebody invoked a function. `runIds`: the runs that the service told of, each time it was asked; null: a rule held the run. */
export interface InvocationNote {
  functionId: string;
  n: number;
  runIds: (string | null)[];
}

/** Something held for a while: the service was asked to, and had said so; and the same of its end. */
export interface SpanNote {
  askedAt: number;
  setAt: number;
  endAskedAt: number;
  endedAt: number;
}

export interface QuotaNote extends SpanNote {
  quota: SimQuota["quota"];
  limit: number;
}

export interface FunctionLimitNote extends SpanNote {
  functionId: string;
  rule: LimitedRule;
  limit: number;
  /** Of a limit on starts. */
  period: string;
}

/** An alert rule about failed runs of a function. */
export interface AlertNote extends SpanNote {
  id: string;
  functionId: string;
  threshold: number;
  windowMs: number;
  /** It was disabled for a while. */
  disabled: SpanNote | null;
}

/** A schema was declared: the service was asked to, and had said so; and the same of its end. */
export interface SchemaNote {
  name: string;
  mode: SimSchema["mode"];
  askedAt: number;
  declaredAt: number;
  removeAskedAt: number;
  removedAt: number;
}

/** Events that were sent in one request. */
export interface BatchNote {
  events: readonly BatchedEvent[];
  /** Of the request that was answered. */
  sentAt: number;
  answeredAt: number;
  outcome: "accepted" | "refused" | null;
  /** What became of a request before is not known. */
  mayBeStored: boolean;
}

/** An event that was sent twice with one id, and the ids that were answered. */
export interface EchoNote extends SimEcho {
  ids: string[];
}

/** Everything about an event was erased by a job. */
export interface ErasureNote {
  n: number;
  eventId: string;
  jobId: string | null;
  askedAt: number;
}

/** A request of the webhook that was accepted or refused, or never delivered and recovered. */
export interface DeliveryNote {
  n: number;
  name: string;
  isLost: boolean;
  hasId: boolean;
  /** Its transform failed: it is replayed when that is repaired. */
  isRefused: boolean;
  /** How often it may be stored, replays apart. */
  timesMax: number;
}

/** Somebody replayed a recorded request. Null: the service went away before it said what became of that. */
export interface ReplayNote {
  n: number;
  outcome: { eventId: string } | "refused" | null;
}

/** A drill was asked for. `jobId`: as the service said; null: it went away before. */
export interface DrillNote {
  kinds: readonly DrillKind[];
  jobId: JobId | null;
}

/** A secret that senders were given. */
export interface SecretNote {
  text: string;
  revokeAskedAt: number;
  revokedAt: number;
}

export interface KeyNote extends SecretNote {
  /** Null: it is never revoked. */
  id: KeyId | null;
}

/** It was there when the store was asked to remove what is old, and was gone afterwards. In virtual time, that is one instant. */
export interface RemovalNote {
  since: number;
  by: number;
}

/** Somebody asked for a job. `id`: as the service said; null: it went away before. */
export interface JobNote {
  kind: string;
  /** Null: it is about none. */
  functionId: string | null;
  askedAt: number;
  id: JobId | null;
  /** Somebody asked to cancel it. `told`: the job as the service said that it is from then on. */
  cancel?: { askedAt: number; told: Job | null };
}

/** What was published on a channel, and what its follower got of it. */
export interface StreamNote {
  channel: string;
  published: {
    no: number;
    /** The first time. */
    askedAt: number;
    /** How often it was published: what became of the times before the last is not known. */
    tries: number;
    isStored: boolean;
  }[];
  received: { number: number; no: number }[];
  /** When the follower was told that messages are missing, and how many it had received by then. */
  gaps: { at: number; received: number }[];
}

/** A request that the service made for a step. `refused`: nobody answered it. */
export interface RequestNote {
  process: number;
  fate: "under-way" | "answered" | "refused" | "killed" | "stopped";
  endedAt: number | null;
}

/** A signal that the service took. */
export interface SignalNote {
  signal: string;
  runId: string;
  /** Tells it apart from all others. */
  no: number;
}
