/**
 * The head of a plain request to `/e/…`: a POST whose body has a declared length, and no header that says anything about the connection or
 * the way the body is sent. Nearly every event and every webhook comes as one.
 *
 * Reads nothing leniently. What is not written to the letter, or means more than it seems to, is no plain request and goes to Node's
 * HTTP parser: it is for that one to decide what a strange request means, and nobody in between may see it differently.
 */

import { type PlainHeaders, readPlainHeaders } from "@inlet/protocol";

export interface PlainHead extends PlainHeaders {
  /** As it came, up to and with the empty line: heads that are equal mean the same. */
  text: string;
  /** The path and the query. */
  target: string;
  bodyBytes: number;
}

const END = Buffer.from("\r\n\r\n");
const HEAD_BYTES_MAX = 8 * 1024;
const REQUEST_LINE = /POST (\/e\/[!-~]*) HTTP\/1\.1\r\n/y;
const BODY_LENGTH = /^\d{1,9}$/;
/** `set-cookie` may come several times, and is a list for Node. */
const NOT_PLAIN = new Set(["transfer-encoding", "te", "trailer", "expect", "upgrade", "proxy-connection", "set-cookie"]);

/** Null when the chunk does not begin with the whole head of a plain request. `last` is the head that came before, often the same. */
export function readPlainHead(chunk: Buffer, last: PlainHead | null): PlainHead | null {
  const end = chunk.indexOf(END);
  if (end < 0 || end > HEAD_BYTES_MAX) return null;
  const text = chunk.toString("latin1", 0, end + END.length);
  return text === last?.text ? last : parse(text);
}

function parse(text: string): PlainHead | null {
  REQUEST_LINE.lastIndex = 0;
  const target = REQUEST_LINE.exec(text)?.[1];
  if (target === undefined) return null;
  const read = readPlainHeaders(text, REQUEST_LINE.lastIndex, NOT_PLAIN);
  if (!read) return null;
  const { headers, rawHeaders } = read;
  const { host, connection, "content-length": length } = headers;
  const staysOpen = connection === undefined || connection.toLowerCase() === "keep-alive";
  if (host === undefined || length === undefined || !BODY_LENGTH.test(length) || !staysOpen) return null;
  return { text, target, headers, rawHeaders, bodyBytes: Number(length) };
}
