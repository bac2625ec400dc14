/** What events start: runs, and start requests for functions with rules about their starts. Written with the event. */

import type { FunctionNo, JobId, RunId, RunNo, StepId } from "@inlet/protocol";
import type { StepRecord } from "./steps.ts";

/** A run that an event starts, written with the event. */
export interface NewRun {
  id: RunId;
  functionNo: FunctionNo;
  /** The lane of its calls. */
  lane: string;
  /** The earliest time at which it starts. */
  dueAt: number;
  /** Among due entries, the lowest rank is first. */
  rank: number;
  /** The events of a batch, by sequence number. Absent: the one event it is written with. */
  eventSequences?: readonly number[];
  cron?: string;
  originalRunId?: RunId;
  /** Step results it begins with, in the order in which the steps ended: those of a run that it repeats in part. */
  steps?: readonly KeptStep[];
  /** The job that starts it. */
  jobId?: JobId;
  invoker?: Invoker;
  /** Events that cancel it. */
  cancels?: readonly NewWait[];
  /** It starts in order among the runs of its function with this key (orders.ts). */
  order?: RunOrderKey;
  /** If this run blocks the key, the new run takes its position. */
  inPlaceOf?: RunNo;
  /** When it is cancelled if it has not started. */
  startBy?: number;
}

/** `key` is compared; `text` is shown, and erased with the event. At most 512 characters each. */
export interface RunOrderKey {
  key: string;
  text: string;
}

/** A completed step. */
export interface KeptStep extends Omit<StepRecord, "position" | "donePosition"> {
  value: string;
}

/** A function with rules about its starts (see FunctionStart): the decision is made when the entry is processed. */
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
  /** For a signal, the result of signalEventName. */
  eventName: string;
  expression: string | null;
  /** An event matches only if its value at `path` has this key, which finds one of many waits. Null: every event is tested. */
  match: { path: string; key: string } | null;
  stepId: StepId | null;
  expiresAt: number;
  /** Only events received at or after this time match. Events stored before the wait match too. */
  since: number;
  /** If another run already waits for the signal: this run fails, or replaces the other, whose wait then ends with its timeout. */
  onConflict?: "fail" | "replace";
}

/** The error of a run that would be the second to wait for a signal. */
export const SIGNAL_TAKEN = {
  name: "SignalConflict",
  message: 'Another run waits for the same signal. With onConflict: "replace" this one would take its place.',
} as const;
