/** Reads the service's response to a send: the ids, or a SendError with all details. */

import { type EventFault, SendError } from "../errors.ts";

const SHOWN_MAX = 200;

export function readSendAnswer(status: number, text: string, count: number): string[] | SendError {
  const body = parse(text);
  if (status === 200 && Array.isArray(body?.ids) && body.ids.length === count) return body.ids.map(String);
  if (status >= 200 && status < 300) {
    const message = `Expected ${count} ids, got ${shown(text)}. Is this the address of an Inlet service?`;
    return new SendError(message, { code: "response_invalid", status });
  }
  const message = typeof body?.error === "string" && body.error ? body.error : `The service answered ${status}: ${shown(text)}`;
  const code = typeof body?.code === "string" ? body.code : "response_invalid";
  return new SendError(message, { code, status, details: Array.isArray(body?.details) ? (body.details as EventFault[]) : [] });
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? (value as Record<string, unknown> | null) : null;
  } catch {
    return null;
  }
}

function shown(text: string): string {
  if (!text) return "an empty body";
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}
