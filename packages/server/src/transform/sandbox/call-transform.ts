/**
 * One call of a transform: the arguments go in as text, the event comes out as text.
 *
 * A returned promise is awaited by running the engine's promise jobs. Without timers or network, only those jobs can settle it: a
 * promise that is still pending after them never settles, which is reported at once.
 */

import type { EntryName, TransformFault, TransformSuccess } from "../transform-outcome.ts";
import { type DescribeOptions, describeException, describeThrown } from "./describe-exception.ts";
import { type Guest, GuestTrap } from "./guest.ts";
import type { Handle } from "./quickjs.ts";

export interface TransformCall {
  /** Default `transform`. The others get `evtJson` as their one argument; a handshake may return nothing. */
  entry?: EntryName | undefined;
  /** Null if it is the same text as `raw`. */
  evtJson: string | null;
  headersJson: string;
  queryParamsJson: string;
  raw: string;
  /** Absent: the limit of all. */
  resultBytesMax?: number | undefined;
}

export interface CallOptions extends DescribeOptions {
  request: TransformCall;
  handle: Handle;
  /** The file name of the body in error messages. */
  bodyFileAt: number;
  resultBytesMax: number;
}

type Called = Pick<TransformSuccess, "eventJson">;

type Step = Handle | { fault: TransformFault };

const STACK_ENDED = "RangeError: Maximum call stack size exceeded";
const BODY_TOO_DEEP: TransformFault = { code: "body_invalid", message: "The body is nested too deeply" };
const EVENT_TOO_DEEP: TransformFault = { code: "transform_invalid_event", message: "the returned event is nested too deeply" };

/** A page has up to 1 MB; as text inside of JSON, some of its characters take several. */
const PAGE_RESULT_BYTES_MAX = 4 * 1_048_576;

const BYTE_ORDER_MARK = "\uFEFF";
const decoder = new TextDecoder();

export function callTransform(guest: Guest, options: CallOptions): Called | { fault: TransformFault } {
  const values = passArguments(guest, options);
  if (!Array.isArray(values)) return values;
  const returned = guest.call(options.handle, values);
  if (guest.isException(returned)) return { fault: describeException(guest, options) };
  const event = guest.isPromise(returned) ? settle(guest, returned, options) : returned;
  return typeof event === "object" ? event : eventText(guest, event, options);
}

function passArguments(guest: Guest, options: CallOptions): Handle[] | { fault: TransformFault } {
  const { request, bodyFileAt } = options;
  const raw = guest.write(request.raw);
  const evt = orTooDeep(BODY_TOO_DEEP, () => guest.parseJson(evtText(guest, raw, request), bodyFileAt));
  if (guest.isException(evt)) return { fault: bodyFault(guest, options) };
  if (request.entry !== undefined && request.entry !== "transform") return [evt];
  const headers = guest.parseJson(guest.write(request.headersJson), bodyFileAt);
  const queryParams = guest.parseJson(guest.write(request.queryParamsJson), bodyFileAt);
  const values = [evt, headers, queryParams, guest.string(raw)];
  return values.some((value) => guest.isException(value)) ? { fault: describeException(guest, options) } : values;
}

/** A byte order mark is part of the body as sent, but not of its JSON. */
function evtText(guest: Guest, raw: { at: number; bytes: number }, { evtJson, raw: rawText }: TransformCall) {
  if (evtJson !== null) return guest.write(evtJson);
  const markBytes = rawText.startsWith(BYTE_ORDER_MARK) ? 3 : 0;
  return { at: raw.at + markBytes, bytes: raw.bytes - markBytes };
}

/** The engine usually detects stack overflow; depending on how V8 compiled it, the native stack may overflow first. */
function orTooDeep(fault: TransformFault, work: () => Handle): Handle {
  try {
    return work();
  } catch (error) {
    throw error instanceof RangeError ? new GuestTrap(fault) : error;
  }
}

function bodyFault(guest: Guest, options: CallOptions): TransformFault {
  const fault = describeException(guest, options);
  if (fault.code === "transform_memory") return fault;
  if (fault.message === STACK_ENDED) return BODY_TOO_DEEP;
  return { code: "body_invalid", message: `The body is not JSON: ${fault.message.replace(/^SyntaxError: /, "")}` };
}

function settle(guest: Guest, promise: Handle, options: CallOptions): Step {
  guest.runJobs();
  const state = guest.promiseState(promise);
  if (state === "fulfilled") return guest.promiseResult(promise);
  if (state === "rejected") return { fault: describeThrown(guest, guest.promiseResult(promise), options) };
  const message = "the returned promise never settles: a transform has no timers and no network, so nothing is left that could settle it";
  return { fault: { code: "transform_failed", message } };
}

function eventText(guest: Guest, event: Handle, options: CallOptions): Called | { fault: TransformFault } {
  const kind = guest.kind(event);
  const { entry = "transform" } = options.request;
  if (entry === "handshake" && (kind === "undefined" || kind === "null")) return { eventJson: "null" };
  if (kind !== "object") return invalid(entry === "transform" ? RETURNED[kind] : OTHER_RETURNED[entry]);
  const json = orTooDeep(EVENT_TOO_DEEP, () => guest.stringifyJson(event));
  if (guest.isException(json)) return { fault: notJson(describeException(guest, options)) };
  const bytes = guest.textBytes(json);
  if (bytes === null) return { fault: describeException(guest, options) };
  const { resultBytesMax = options.resultBytesMax } = options.request;
  const bytesMax = entry === "read" ? Math.max(resultBytesMax, PAGE_RESULT_BYTES_MAX) : resultBytesMax;
  if (bytes.length > bytesMax) {
    return invalid(
      `the returned ${entry === "transform" ? "event" : "object"} has ${bytes.length} bytes as JSON, more than the limit of ${bytesMax}`,
    );
  }
  const eventJson = decoder.decode(bytes);
  // A toJSON method may have replaced it.
  return eventJson.startsWith("{") ? { eventJson } : invalid("the returned object is not an object once written as JSON");
}

const RETURNED = {
  undefined: "the transform returned nothing; it must return an object with name and data",
  null: "the transform returned null; it must return an object with name and data",
  array: "the transform returned an array; it must return one object with name and data",
  function: "the transform returned a function; it must return an object with name and data",
  primitive: "the transform returned a value that is not an object; it must return an object with name and data",
} as const;

const OTHER_RETURNED = {
  handshake: "the handshake must return { status, headers, body } or nothing",
  request: "request must return { url, method, headers, body }",
  read: "read must return { items, cursor }",
} as const;

function notJson(fault: TransformFault): TransformFault {
  if (fault.code === "transform_memory") return fault;
  if (fault.message === STACK_ENDED) return EVENT_TOO_DEEP;
  return { ...fault, code: "transform_invalid_event", message: `the returned event cannot be written as JSON: ${fault.message}` };
}

function invalid(message: string): { fault: TransformFault } {
  return { fault: { code: "transform_invalid_event", message } };
}
