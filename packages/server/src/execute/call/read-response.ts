/** Interprets an app's response. The outcome is always a value: finished, operations, or failed with a reason. */

import type { HeaderSet, RunError } from "../../store/contract/index.ts";
import type { CallResponse } from "../steps/call-response.ts";
import { readError, readOperations } from "../steps/operations.ts";
import { HEADER_NAMES, type HeaderNames } from "./header-names.ts";
import { shownResponse } from "./shown-response.ts";

export interface AppResponse {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

export interface ReadResponse {
  answer: CallResponse;
  /** The protocol version of the SDK; null if it does not say. */
  requestVersion: number | null;
}

/** The HTTP status of a streamed response, whose actual status is at the end of the body. */
const STREAMED = 201;
const RETRY_AFTER_MIN_MS = 1_000;
const RETRY_AFTER_MAX_MS = 86_400_000;

export function readResponse(set: HeaderSet, received: AppResponse, now: number): ReadResponse {
  const names = HEADER_NAMES[set];
  const answered = received.status === STREAMED ? unwrapped(received, names) : received;
  // A response that does not come from an SDK is reported as such.
  if (!answered && received.headers[names.sdk] !== undefined) {
    return { answer: failed("BadResponse", notUnwrapped(received.body), STREAMED, true), requestVersion: null };
  }
  const { headers } = answered ?? received;
  const version = Number(text(headers[names.requestVersion]) ?? Number.NaN);
  const requestVersion = Number.isInteger(version) ? version : null;
  return { answer: interpret(answered ?? received, names, now), requestVersion };
}

/** The status of the response itself, streamed or not. */
export function statusOf(set: HeaderSet, received: AppResponse): number {
  const answered = received.status === STREAMED ? unwrapped(received, HEADER_NAMES[set]) : received;
  return (answered ?? received).status;
}

function interpret({ status, headers, body }: AppResponse, names: HeaderNames, now: number): CallResponse {
  const isOk = status >= 200 && status < 300;
  const isSdk = headers[names.sdk] !== undefined;
  if (isOk && !isSdk) return failed("NotAnSdk", notAnSdk(status, body), status, true);
  const retry = { mayRetry: text(headers[names.noRetry]) !== "true", retryAfterMs: readRetryAfter(text(headers["retry-after"]), now) };
  if (status === 206) {
    const operations = readOperations(body);
    if (!operations) return failed("BadResponse", `The app answered 206, but not with operations: ${shownResponse(body)}`, status, true);
    return { kind: "operations", operations, ...retry };
  }
  if (isOk) return readOutput(body, status);
  const fallback = `The app answered with status ${status}: ${shownResponse(body)}`;
  // Only error messages of an SDK are shown in full.
  if (!isSdk) return { kind: "failed", error: shownError(readError(body, fallback)), httpStatus: status, body: null, ...retry };
  const error = readError(body, fallback);
  return { kind: "failed", error, httpStatus: status, body: isJson(body) ? body : null, ...retry };
}

function shownError({ name, message }: RunError): RunError {
  return { name: shownResponse(name), message: shownResponse(message) };
}

function readOutput(body: string, status: number): CallResponse {
  if (body.trim() === "") return { kind: "finished", output: "null" };
  if (!isJson(body)) return failed("BadResponse", `The app answered ${status}, but not with JSON: ${shownResponse(body)}`, status, true);
  return { kind: "finished", output: body };
}

interface StreamEnvelope {
  status?: unknown;
  headers?: AppResponse["headers"] | null;
  body?: unknown;
  /** The Go SDK sends these two in the body, and leaves the headers null. */
  noRetry?: unknown;
  retryAt?: unknown;
}

/** A streamed response: white space while the function ran, then the actual response. Null if it is not one. */
function unwrapped(received: AppResponse, names: HeaderNames): AppResponse | null {
  const value: unknown = isJson(received.body) ? JSON.parse(received.body) : null;
  if (typeof value !== "object" || value === null) return null;
  const envelope = value as StreamEnvelope;
  const { status, headers, body } = envelope;
  if (typeof status !== "number" || !Number.isInteger(status)) return null;
  const lower = Object.fromEntries(Object.entries(headers ?? {}).map(([name, text]) => [name.toLowerCase(), text]));
  // Its body is the value itself; that of others is text.
  const isGo = typeof envelope.noRetry === "boolean";
  const retry = isGo ? retryHeaders(envelope, names) : {};
  const text = typeof body === "string" && !isGo ? body : JSON.stringify(body ?? null);
  return { status, headers: { ...received.headers, ...lower, ...retry }, body: text };
}

function retryHeaders({ noRetry, retryAt }: StreamEnvelope, names: HeaderNames): Record<string, string> {
  return { ...(noRetry === true && { [names.noRetry]: "true" }), ...(typeof retryAt === "string" && { "retry-after": retryAt }) };
}

function notUnwrapped(body: string): string {
  return `The app answered ${STREAMED}, but not with a status and a body: ${shownResponse(body)}`;
}

export function failed(name: string, message: string, httpStatus: number | null, mayRetry: boolean): CallResponse {
  return { kind: "failed", error: { name, message }, mayRetry, retryAfterMs: null, httpStatus, body: null };
}

/** Seconds or a date. */
export function readRetryAfter(value: string | undefined, now: number): number | null {
  if (value === undefined || value.trim() === "") return null;
  const seconds = Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1_000;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, RETRY_AFTER_MIN_MS), RETRY_AFTER_MAX_MS);
}

function notAnSdk(status: number, body: string): string {
  return `Something answered with status ${status} that is not an SDK, perhaps a proxy: ${shownResponse(body)}`;
}

function isJson(body: string): boolean {
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
