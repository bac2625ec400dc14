/** What people do during a simulation, and when, as data. Each kind has a file with random ones, and how they are done. */

import type { DrillKind } from "@inlet/protocol";

export interface Deeds {
  events: readonly SimEvent[];
  signals: readonly SimSignal[];
  pauses: readonly SimPause[];
  archives: readonly SimArchive[];
  jobs: readonly SimJob[];
  reruns: readonly SimRerun[];
  wakes: readonly SimWake[];
  approvals: readonly SimApproval[];
  decisions: readonly SimDecision[];
  quotas: readonly SimQuota[];
  functionLimits: readonly SimFunctionLimit[];
  schemas: readonly SimSchema[];
  batches: readonly SimBatch[];
  echoes: readonly SimEcho[];
  retentions: readonly SimRetention[];
  erasures: readonly SimErasure[];
  rotations: readonly SimRotation[];
  signingRotations: readonly SimSigningRotation[];
  hooks: readonly SimHook[];
  streams: readonly SimStream[];
  schedules: readonly SimSchedule[];
  cancellations: readonly SimCancellation[];
  invocations: readonly SimInvocation[];
  drills: readonly SimDrill[];
  alerts: readonly SimAlert[];
}

export type DeedKind = keyof Deeds;
export type Deed<Kind extends DeedKind> = Deeds[Kind][number];

/** Every event carries a key and a number of its own. */
export interface SimEvent {
  atMs: number;
  name: string;
  key: number;
  n: number;
}

/** Sent by somebody who is no function. */
export interface SimSignal {
  atMs: number;
  signal: string;
  key: number;
  n: number;
}

/** A function that is paused for a while. */
export interface SimPause {
  atMs: number;
  fn: string;
  forMs: number;
}

/** The environment is archived for a while. */
export interface SimArchive {
  atMs: number;
  forMs: number;
}

/** Something is done for all runs of a function, or for all events of its trigger. */
export interface SimJob {
  atMs: number;
  kind: "runs.cancel" | "runs.rerun" | "events.replay";
  fn: string;
  /** Items per second; the default if absent. */
  rate?: number;
  /** So long after it was made, it is cancelled; never if absent. */
  cancelAfterMs?: number;
}

/** A run that has ended by then is rerun. */
export interface SimRerun {
  atMs: number;
  /** Which run: counted in the order in which they ended, and from the first again. */
  pick: number;
  /** From which of its steps on, counted the same way; null: the whole run. */
  step: number | null;
}

/** A sleep is ended early, more than once. */
export interface SimWake {
  atMs: number;
  /** Which of the runs that sleep. */
  pick: number;
}

/** An approval of a signal is requested, and so long after that, somebody decides it. */
export interface SimApproval {
  atMs: number;
  signal: string;
  key: number;
  timeoutMs: number;
  decideAfterMs: number;
}

/** An approval that is open by then is decided, by one person or by two at once. */
export interface SimDecision {
  atMs: number;
  /** Which of the open ones. */
  pick: number;
  decision: "approved" | "rejected";
  hasRival: boolean;
}

/** The environment has a quota for a while. */
export interface SimQuota {
  atMs: number;
  forMs: number;
  quota: "eventsPerSecond" | "eventsPerDay" | "bytesPerDay" | "callsAtOnce" | "storedBytes";
  /** The quota; of a day, how much more than what is used by then. */
  room: number;
}

/** For a while, a function has a limit, whatever its app says: on calls in progress, or on starts in each period. */
export interface SimFunctionLimit {
  atMs: number;
  forMs: number;
  fn: string;
  /** `concurrency` if absent. */
  rule?: LimitedRule;
  limit: number;
  /** Of starts. */
  period?: string;
}

export type LimitedRule = "concurrency" | "throttle" | "rateLimit";

/** For a while, events of a name do not match if they are odd. */
export interface SimSchema {
  atMs: number;
  forMs: number;
  name: string;
  mode: "observe" | "warn" | "refuse";
}

/** Events that are sent in one request. */
export interface SimBatch {
  atMs: number;
  events: readonly BatchedEvent[];
}

export interface BatchedEvent extends Omit<SimEvent, "atMs"> {
  isOdd: boolean;
}

/** An event with an id of its sender, and so long after it, the same again. */
export interface SimEcho extends SimEvent {
  afterMs: number;
}

/** From then on, events and runs are removed when they are so old. */
export interface SimRetention {
  atMs: number;
  eventsMs: number;
  runsMs: number;
}

/** Events are sent, and so long after that, everything about the first ones is erased. */
export interface SimErasure {
  atMs: number;
  afterMs: number;
  events: readonly Pick<SimEvent, "key" | "n">[];
  /** How many of them. */
  erased: number;
}

/** A new event key, and so long after it, the end of the one before. */
export interface SimRotation {
  atMs: number;
  no: number;
  overlapMs: number;
}

/** A new signing key; so long after it, apps that have it; and so long after them, the end of the one before. */
export interface SimSigningRotation {
  atMs: number;
  no: number;
  deployAfterMs: number;
  overlapMs: number;
}

/** A webhook, the requests that it gets, when its secret is replaced, and when what its provider lists is compared with what it got. */
export interface SimHook {
  atMs: number;
  rotateAfterMs: number;
  overlapMs: number;
  requests: readonly SimHookRequest[];
  reconciledAfterMs: readonly number[];
  /** Runs in the sandbox; if absent, requests are events as they come. */
  transform?: TransformName;
  /** Its transform fails for so long, and what was refused meanwhile is replayed then; if absent, it never does. */
  brokenForMs?: number;
  replays?: readonly SimReplay[];
}

export type TransformName = "whole" | "counting" | "awaiting";

/** A recorded request is replayed by somebody, or all of them by a job. */
export interface SimReplay {
  afterMs: number;
  /** Which of those that were accepted; null: all of them. */
  pick: number | null;
  /** So long after it was made, the job is cancelled; never if absent. */
  cancelAfterMs?: number;
}

export interface SimHookRequest extends Omit<SimEvent, "atMs"> {
  afterMs: number;
  /** It never arrives: the provider only lists it. */
  isLost: boolean;
  /** Its event has an id of its own. */
  hasId: boolean;
}

/** Messages that are published on a channel, two at a time, and somebody who follows it. */
export interface SimStream {
  atMs: number;
  channel: string;
  /** How long to wait before each pair. */
  pairs: readonly number[];
  /** How long each connection of the follower lasts, if nothing else ends it, and how long it is away then; after the last, again from the first. */
  connections: readonly { forMs: number; awayMs: number }[];
}

/** The app whose function has a schedule is removed. */
export interface SimSchedule {
  atMs: number;
  everyMinutes: number;
}

/** All runs of a function that are there by then are cancelled. */
export interface SimCancellation {
  atMs: number;
  fn: string;
  /** Only those whose event has this key; null: all. */
  key: number | null;
}

/** A function is invoked, so many times with one idempotency key. */
export interface SimInvocation {
  atMs: number;
  fn: string;
  key: number;
  n: number;
  times: number;
}

/** A webhook of all branches gets requests, and is drilled with them in one branch. */
export interface SimDrill {
  atMs: number;
  requests: readonly Pick<SimEvent, "key" | "n">[];
  /** Their events have ids of their own. */
  hasIds: boolean;
  /** Drills, one after the other. */
  kinds: readonly (readonly DrillKind[])[];
}

/** For a while, there is an alert rule about failed runs of a function; in between, it is disabled for a while. */
export interface SimAlert {
  atMs: number;
  forMs: number;
  fn: string;
  threshold: number;
  windowMs: number;
  /** How long it is disabled, in the middle; if absent, it is not. */
  disabledForMs?: number;
}
