/** The errors that users of the SDK throw or catch. */

import { durationMs } from "./duration.ts";
import { fromWireError, type WireError } from "./wire/wire-error.ts";

/** Throw it to fail a step or a function without retries. */
export class NonRetriableError extends Error {
  override name = "NonRetriableError";
}

/** Throw it to set the delay before the next attempt. */
export class RetryAfterError extends Error {
  override name = "RetryAfterError";
  /** Whole seconds, as the service expects. */
  readonly retryAfterSeconds: number;

  /** `delay`: milliseconds, a string such as "90s", or the time of the next attempt. A time that has passed counts as now. */
  constructor(message: string, delay: number | string | Date, options?: ErrorOptions) {
    super(message, options);
    const ms = delay instanceof Date ? delay.getTime() - Date.now() : durationMs(typeof delay === "number" ? Math.max(0, delay) : delay);
    this.retryAfterSeconds = Math.max(0, Math.ceil(ms / 1_000));
  }
}

/** Thrown into a function when one of its steps has failed permanently. Has the name and message of the step's error. */
export class StepError extends Error {
  readonly stepId: string;

  constructor(stepId: string, error: WireError) {
    const original = fromWireError(error);
    super(original.message, { cause: original.cause });
    this.stepId = stepId;
    this.name = original.name;
    if (error.stack) this.stack = error.stack;
  }
}

/** One fault of one event, as the service reports it. */
export interface EventFault {
  index: number;
  field: string;
  message: string;
}

interface SendErrorFacts {
  code: string;
  status?: number | null;
  docs?: string | null;
  details?: readonly EventFault[];
  cause?: unknown;
}

/** A send that was refused or could not be delivered. */
export class SendError extends Error {
  override name = "SendError";
  /** Stable: one of the service's error codes, or `event_key_missing`, `base_url_missing`, `connection_failed`, `response_invalid`. */
  readonly code: string;
  /** The HTTP status, or null if there was no response. */
  readonly status: number | null;
  /** The path, on the service, of the page that explains the code; null if the service did not answer. */
  readonly docs: string | null;
  readonly details: readonly EventFault[];

  constructor(message: string, about: SendErrorFacts) {
    super(message, about.cause === undefined ? {} : { cause: about.cause });
    this.code = about.code;
    this.status = about.status ?? null;
    this.docs = about.docs ?? null;
    this.details = about.details ?? [];
  }
}

/** Invalid events would be refused again. */
const FINAL_SEND_CODES = new Set(["event_invalid", "event_schema", "body_invalid", "body_too_large", "events_too_many"]);

/** Whether an error is not retriable. By name as well as by class: an app may contain two copies of the SDK. */
export function isFinal(thrown: unknown): boolean {
  if (thrown instanceof SendError) return FINAL_SEND_CODES.has(thrown.code);
  return thrown instanceof NonRetriableError || thrown instanceof StepError || nameOf(thrown) === "NonRetriableError";
}

export function retryAfterSeconds(thrown: unknown): number | undefined {
  const isDelayed = thrown instanceof RetryAfterError || nameOf(thrown) === "RetryAfterError";
  const seconds = isDelayed ? (thrown as RetryAfterError).retryAfterSeconds : undefined;
  return typeof seconds === "number" && Number.isFinite(seconds) ? seconds : undefined;
}

function nameOf(thrown: unknown): unknown {
  return typeof thrown === "object" && thrown !== null && "name" in thrown ? thrown.name : undefined;
}
