/**
 * Reads the service's response to a send: the ids, or a SendError with all details. Errors end up in logs, and a response that is not the
 * service's own, such as the error page of a proxy, often repeats the URL with the event key: of such a response only the size is told.
 */

import { type EventFault, SendError } from "../errors.ts";

/** Codes of the service; others have theirs in other forms. */
const CODE = /^[a-z]+(?:_[a-z]+)*$/;

export function readSendResponse(status: number, text: string, count: number): string[] | SendError {
  const body = parse(text);
  if (status === 200 && Array.isArray(body?.ids) && body.ids.length === count) return body.ids.map(String);
  if (status >= 200 && status < 300) {
    const message = `Expected ${count} ids, got ${sizeOf(text)}. Check that this is the address of an Inlet service.`;
    return new SendError(message, { code: "response_invalid", status });
  }
  if (typeof body?.error !== "string" || typeof body.code !== "string" || !CODE.test(body.code)) {
    const message = `The response has status ${status} and ${sizeOf(text)} that is not from an Inlet service. Check that this is its address.`;
    return new SendError(message, { code: "response_invalid", status });
  }
  const { error: message, code, docs, details } = body;
  const page = docs === `/docs/errors/${code}` ? docs : null;
  return new SendError(message, { code, status, docs: page, details: Array.isArray(details) ? (details as EventFault[]) : [] });
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function sizeOf(text: string): string {
  return text === "" ? "an empty body" : `a body of ${text.length} characters`;
}
