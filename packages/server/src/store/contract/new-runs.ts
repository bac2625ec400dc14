/** What events start: runs, and requests to functions that have rules about their starts. Written with the event. */

import type { FunctionNo, JobId, RunId, RunNo, StepId } from "@inlet/protocol";
import type { StepKind, StepStatus } from "./steps.ts";

/** A run that an event starts, written with the event. */
export interface NewRun {
  id: RunId;
  functionNo: FunctionNo;
  /** Which queue its calls stand in. */
  lane: string;
  /** Not before this instant. */
  dueAt: number;
  /** Lower goes first among those that are due. */
  rank: number;
  /** The events of a batch, by their sequence in the store. Absent: the one event it is written with. */
  eventSequences?: readonly number[];
  cron?: string;
  originalRunId?: RunId;
  /** Results it begins with, in the order they were done: those of a run that it repeats in part. */
  steps?: readonly KeptStep[];
  /** The job that starts it. */
  jobId?: JobId;
  invoker?: Invoker;
  /** Events that cancel it. */
  cancels?: readonly NewWait[];
  /** It starts in its turn among the runs of its function with this key (orders.ts). At most 512 characters. */
  orderKey?: string;
  /** If this run holds up the key, the new one takes its position. */
  inPlaceOf?: RunNo;
  /** When it is cancelled unless it has started. */
  startBy?: number;
}

/** A step that is done. */
export interface KeptStep {
  id: StepId;
  kind: StepKind;
  name: string;
  status: StepStatus;
  startedAt: number;
  endedAt: number | null;
  attempts: number;
  until: number | null;
  detail: string | null;
  value: string;
}

/** A function that is started by rules of its own (see FunctionStart): what to do is decided when the entry is worked on. */
export interface NewStart {
  functionNo: FunctionNo;
  dueAt: number;
}

/** The step that waits for a run to end, in the same environment. */
export interface Invoker {
  runNo: RunNo;
  stepId: StepId;
}

export interface NewWait {
  kind: "event" | "cancel" | "signal";
  /** That of a signal is made by signalEventName. */
  eventName: string;
  expression: string | null;
  /** An event matches only if its value at `path` has this key: how one of many waits is found. Null: every event is tried. */
  match: { path: string; key: string } | null;
  stepId: StepId | null;
  expiresAt: number;
  /** Only events received at or after this instant count. Those that were stored before the wait was count too. */
  since: number;
  /** Of a signal that another run waits for already: this run fails, or takes the other's place, whose wait then ends with its time. */
  onConflict?: "fail" | "replace";
}

/** Why a run fails that would be the second to wait for a signal. */
export const SIGNAL_TAKEN = {
  name: "SignalConflict",
  message: 'Another run waits for the same signal. With onConflict: "replace" this one would take its place.',
} as const;
