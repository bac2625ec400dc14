/**
 * Allowed handshake responses. The text comes from the user or a provider and is served from our own origin, so browsers must not
 * render it as a page: plain text or JSON, bounded, without cookies or CORS headers.
 */

import { secretForms } from "@inlet/protocol";

export interface HandshakeResponse {
  status: number;
  contentType: "text/plain" | "application/json";
  /** Alternating names and values, in addition to the content type. */
  headers: string[];
  body: string;
}

export const RESPONSE_BYTES_MAX = 8_192;
/** Headers that providers require (Asana, CloudEvents, Smartsheet); any other could change how a browser or proxy handles the response. */
const PASSED_HEADERS: ReadonlySet<string> = new Set([
  "x-hook-secret",
  "x-hook-signature",
  "webhook-allowed-origin",
  "webhook-allowed-rate",
  "smartsheet-hook-response",
]);
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]{0,1024}$/;

/** Returns a text if the value is invalid. */
export function readHandshakeResponse(given: unknown): HandshakeResponse | string {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return "it must return { status, headers, body } or nothing";
  const { status = 200, headers = {}, body = "" } = given as Record<string, unknown>;
  if (!Number.isInteger(status) || (status as number) < 200 || (status as number) > 599)
    return "status must be a whole number from 200 to 599";
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return "headers must be an object";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (isTooLarge(text)) return TOO_LARGE;
  if (Object.values(headers).some((value) => typeof value === "object" && value !== null)) return "headers must hold texts";
  const entries = Object.entries(headers as Record<string, unknown>).map(([name, value]): [string, string] => [name, String(value)]);
  const contentType = entries.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const isJson = contentType === undefined ? typeof body !== "string" : /^application\/json\s*(?:;|$)/i.test(contentType);
  return {
    status: status as number,
    contentType: isJson ? "application/json" : "text/plain",
    headers: entries
      .filter(([name, value]) => PASSED_HEADERS.has(name.toLowerCase()) && HEADER_VALUE.test(value))
      .filter(([name], index, all) => all.findIndex(([other]) => other.toLowerCase() === name.toLowerCase()) === index)
      .flat(),
    body: text,
  };
}

/** Why a response is not sent; null: it may be. Holds for every handshake, whoever wrote it. */
export function responseFault({ body, headers }: HandshakeResponse, secrets: readonly string[]): string | null {
  if (isTooLarge(body)) return TOO_LARGE;
  const shown = [body, ...headers].join("\n");
  return secrets.some((secret) => secretForms(secret).some((form) => shown.includes(form)))
    ? "the response holds a secret of the webhook"
    : null;
}

const TOO_LARGE = `the response has more than ${RESPONSE_BYTES_MAX} bytes`;

function isTooLarge(text: string): boolean {
  return Buffer.byteLength(text) > RESPONSE_BYTES_MAX;
}

export function plainResponse(body: string): HandshakeResponse {
  return { status: 200, contentType: "text/plain", headers: [], body };
}

export function jsonResponse(value: unknown): HandshakeResponse {
  return { status: 200, contentType: "application/json", headers: [], body: JSON.stringify(value) };
}
