/** What goes into a transform and what comes out of it. Every end a run can have is one of these values, never an exception. */

/** Whose time a run takes. */
export interface TransformOwner {
  webhook: string;
  environment: string;
}

/** The functions of a user that run in the sandbox. */
export type EntryName = "transform" | "handshake";

export interface TransformRequest {
  /** Names this text of the transform: compiled once under this key, and its behaviour is remembered under it. */
  versionKey: string;
  /** Absent: it belongs to nobody else. */
  owner?: TransformOwner | undefined;
  source: string;
  /** Which function of it is called: `transform` unless given. A handshake gets `evtJson` as its one argument. */
  entry?: EntryName;
  /** The text of `evt`. Parsed inside the sandbox and nowhere else. When it is the same text as `raw`, it is sent there once. */
  evtJson: string;
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
  raw: string;
}

/**
 * - `transform_failed`: the code threw, does not parse, defines no function, or returned a promise that can never settle
 * - `transform_invalid_event`: it returned something that is not one object, cannot be written as JSON, or is too large
 * - `transform_timeout`, `transform_memory`: it reached the limit
 * - `body_invalid`: `evtJson` is not JSON; the transform was not called
 * - `overloaded`: it was not run, because too many wait already or the runner is stopping
 */
export type TransformFailureCode =
  | "transform_failed"
  | "transform_invalid_event"
  | "transform_timeout"
  | "transform_memory"
  | "body_invalid"
  | "overloaded";

/** What went wrong, and where in the user's own source. Lines and columns count from 1. */
export interface TransformFault {
  code: TransformFailureCode;
  message: string;
  line?: number;
  column?: number;
}

interface TransformTrace {
  /** What the code wrote to `console`, one text per call, bounded. */
  logs: string[];
  /** Time spent inside the sandbox. */
  durationMs: number;
}

export interface TransformSuccess extends TransformTrace {
  ok: true;
  eventJson: string;
}
export type TransformFailure = TransformTrace & TransformFault & { ok: false };
export type TransformOutcome = TransformSuccess | TransformFailure;

export type CheckOutcome = { ok: true } | ({ ok: false } & TransformFault);

export interface SandboxLimits {
  /** CPU time of one run: parsing the body, the transform, writing the event. */
  timeoutMs: number;
  memoryBytes: number;
  stackBytes: number;
  resultBytesMax: number;
  logLinesMax: number;
  logBytesMax: number;
  /** Compiled versions one worker keeps. */
  versionsMax: number;
}
