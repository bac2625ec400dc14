/**
 * Allowed handshake responses. The text comes from the user or a provider and is served from our own origin, so browsers must not
 * render it as a page: plain text or JSON, bounded, without cookies or CORS headers.
 */

export interface HandshakeAnswer {
  status: number;
  contentType: "text/plain" | "application/json";
  /** Alternating names and values, in addition to the content type. */
  headers: string[];
  body: string;
}

export const ANSWER_BYTES_MAX = 8_192;
const HEADERS_MAX = 20;
/** Headers that providers require; any other could change how a browser or proxy handles the response. */
const PASSED_HEADER = /^(?:x-|webhook-)[!#$%&'*+.^_`|~0-9a-z-]*$/i;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns a text if the value is invalid. */
export function readHandshakeAnswer(given: unknown): HandshakeAnswer | string {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return "it must return { status, headers, body } or nothing";
  const { status = 200, headers = {}, body = "" } = given as Record<string, unknown>;
  if (!Number.isInteger(status) || (status as number) < 200 || (status as number) > 599)
    return "status must be a whole number from 200 to 599";
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) return "headers must be an object";
  const text = typeof body === "string" ? body : JSON.stringify(body);
  if (Buffer.byteLength(text) > ANSWER_BYTES_MAX) return `the answer has more than ${ANSWER_BYTES_MAX} bytes`;
  const entries = Object.entries(headers as Record<string, unknown>).map(([name, value]): [string, string] => [name, String(value)]);
  const contentType = entries.find(([name]) => name.toLowerCase() === "content-type")?.[1];
  const isJson = contentType === undefined ? typeof body !== "string" : /^application\/json\s*(?:;|$)/i.test(contentType);
  return {
    status: status as number,
    contentType: isJson ? "application/json" : "text/plain",
    headers: entries
      .filter(([name, value]) => PASSED_HEADER.test(name) && HEADER_VALUE.test(value))
      .slice(0, HEADERS_MAX)
      .flat(),
    body: text,
  };
}

export function plainAnswer(body: string): HandshakeAnswer {
  return { status: 200, contentType: "text/plain", headers: [], body };
}

export function jsonAnswer(value: unknown): HandshakeAnswer {
  return { status: 200, contentType: "application/json", headers: [], body: JSON.stringify(value) };
}
