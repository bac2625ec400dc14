/** Errors in the wire protocol: a thrown value becomes plain JSON, and is restored as an Error. */

export interface WireError {
  name: string;
  message: string;
  stack?: string | undefined;
  cause?: unknown;
  /** The step's data about the error, if the service adds it. */
  data?: unknown;
}

const CAUSES_DEEP_MAX = 5;
const REASONS_MAX = 5;
/** The reasons of reasons are said, no more: an error may contain itself. */
const REASONS_DEEP_MAX = 2;

/** Anything can be thrown, so any value is accepted. */
export function toWireError(thrown: unknown, depth = 0): WireError {
  if (!(thrown instanceof Error) && !isErrorLike(thrown)) return { name: "Error", message: textOf(thrown) };
  const { name, stack }: { name?: unknown; stack?: unknown } = thrown;
  const error: WireError = { name: typeof name === "string" && name ? name : "Error", message: messageOf(thrown) };
  if (typeof stack === "string" && stack) error.stack = stack;
  if (thrown.cause !== undefined && depth < CAUSES_DEEP_MAX) error.cause = causeOf(thrown.cause, depth + 1);
  return error;
}

export function fromWireError(wire: WireError): Error {
  const error = new Error(String(wire.message ?? "unknown error"), wire.cause === undefined ? {} : { cause: reviveCause(wire.cause) });
  error.name = String(wire.name || "Error");
  if (wire.stack) error.stack = wire.stack;
  return error;
}

/** An AggregateError says why in its errors; the one of a connection refused by every address of a host has no message of its own. */
function messageOf(thrown: Error & { code?: unknown; errors?: unknown }, depth = 0): string {
  const { message, code, errors } = thrown;
  const isListed = depth < REASONS_DEEP_MAX && Array.isArray(errors) && errors.every((one) => one instanceof Error);
  const reasons = isListed ? errors.slice(0, REASONS_MAX).map((one) => messageOf(one, depth + 1)) : [];
  const own = String(message) || (reasons.length === 0 && typeof code === "string" ? code : "");
  return [own, reasons.join("; ")].filter((part) => part !== "").join(": ");
}

function isErrorLike(value: unknown): value is Error {
  return typeof value === "object" && value !== null && "message" in value && typeof value.message === "string";
}

function textOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  return jsonOf(thrown) ?? String(thrown);
}

function causeOf(cause: unknown, depth: number): unknown {
  if (cause instanceof Error || isErrorLike(cause)) return toWireError(cause, depth);
  const text = jsonOf(cause);
  return text === undefined ? String(cause) : JSON.parse(text);
}

function reviveCause(cause: unknown): unknown {
  return isErrorLike(cause) ? fromWireError(cause as WireError) : cause;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
