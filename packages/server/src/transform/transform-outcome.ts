/** The input and output of a transform. Every way a run can end is one of these values, never an exception. */

/** The environment and webhook to which the time of a run is charged. */
export interface TransformOwner {
  webhook: string;
  environment: string;
}

/** The user functions that run in the sandbox: `request` and `read` are the two of a source of reconciliation. */
export type EntryName = "transform" | "handshake" | "request" | "read";

export interface TransformRequest {
  /** Identifies this source of the transform: it is compiled once and its behaviour is tracked under this key. */
  versionKey: string;
  /** Absent: it shares its time with no other. */
  owner?: TransformOwner | undefined;
  source: string;
  /** The function to call; default `transform`. The others get `evtJson` as their one argument. */
  entry?: EntryName;
  /** The text of `evt`. Parsed only inside the sandbox. If it is the same text as `raw`, it is sent once. */
  evtJson: string;
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
  raw: string;
  /** How large the result may be. Absent: the limit of all. */
  resultBytesMax?: number;
}

/**
 * - `transform_failed`: the code threw, does not parse, defines no function, or returned a promise that can never settle
 * - `transform_invalid_event`: it returned something that is not one object, cannot be written as JSON, or is too large
 * - `transform_timeout`, `transform_memory`: it reached the limit
 * - `body_invalid`: `evtJson` is not JSON; the transform was not called
 * - `overloaded`: it was not run, because too many already wait or the runner is stopping
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
  /** The `console` output of the code, one text per call, bounded. */
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
  /** Compiled versions that one worker caches. */
  versionsMax: number;
}
