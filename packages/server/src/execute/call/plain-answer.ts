/**
 * The head of a plain answer: one that is final, has a body of a declared length, and no header that says anything else about the way the
 * body is sent. Nearly every answer of an app is one. Read as strictly as plain requests are (receive/plain-head.ts): what is not written to
 * the letter is left to Node's HTTP parser.
 */

import { readPlainHeaders } from "@inlet/protocol";

export interface PlainAnswer {
  /** As it came, up to and with the empty line: heads that are equal mean the same. */
  text: string;
  status: number;
  headers: Readonly<Record<string, string>>;
  bodyBytes: number;
  /** How long the app keeps the connection for another call; 0 when it closes it, null when it does not say. */
  keptMs: number | null;
}

export const HEAD_BYTES_MAX = 16 * 1024;
const STATUS_LINE = /HTTP\/1\.1 ([2-5]\d\d) [\t\x20-\x7e]*\r\n/y;
const BODY_LENGTH = /^\d{1,9}$/;
/** Of these the length of the body is another than the one that is declared. */
const WITHOUT_BODY = new Set([204, 205, 304]);
const NOT_PLAIN = new Set(["transfer-encoding", "trailer", "upgrade", "proxy-connection", "set-cookie"]);
const KEPT_SECONDS = /(?:^|[,\s])timeout=(\d{1,6})(?:$|[,\s])/i;

/** Null for the head of any other answer. */
export function parsePlainAnswer(text: string): PlainAnswer | null {
  STATUS_LINE.lastIndex = 0;
  const status = Number(STATUS_LINE.exec(text)?.[1] ?? 0);
  if (status === 0 || WITHOUT_BODY.has(status)) return null;
  const { headers } = readPlainHeaders(text, STATUS_LINE.lastIndex, NOT_PLAIN) ?? {};
  const length = headers?.["content-length"];
  if (!headers || length === undefined || !BODY_LENGTH.test(length)) return null;
  const connection = (headers.connection ?? "keep-alive").toLowerCase();
  if (connection !== "keep-alive" && connection !== "close") return null;
  const seconds = KEPT_SECONDS.exec(headers["keep-alive"] ?? "")?.[1];
  const keptMs = connection === "close" ? 0 : seconds === undefined ? null : Number(seconds) * 1_000;
  return { text, status, headers, bodyBytes: Number(length), keptMs };
}
