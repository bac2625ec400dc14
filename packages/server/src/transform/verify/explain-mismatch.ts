/**
 * Explains why a signature does not match a body. A signature does not reveal where a body differs, but the usual causes can be tried:
 * a body that was parsed and serialised again, an editor's trailing line feed, changed line endings.
 */

export interface MismatchFound {
  reason: string;
  /** In the body as received, counted from 1. */
  byte: number;
}

interface Attempt {
  what: string;
  body: Buffer;
}

export function explainMismatch(bytes: Buffer, isSigned: (body: Buffer) => boolean): MismatchFound | null {
  const found = attempts(bytes).find(({ body }) => !body.equals(bytes) && isSigned(body));
  if (!found) return null;
  const byte = firstDifference(bytes, found.body) + 1;
  return { reason: `It is that of ${found.what}; the first byte that differs is byte ${byte}.`, byte };
}

function attempts(bytes: Buffer): Attempt[] {
  const text = bytes.toString("latin1");
  const latin = (changed: string) => Buffer.from(changed, "latin1");
  return [
    { what: "the body without the line end behind it", body: latin(text.replace(/[\r\n]+$/, "")) },
    { what: "the body with a line feed behind it", body: latin(`${text}\n`) },
    { what: "the body with the line ends of Unix", body: latin(text.replaceAll("\r\n", "\n")) },
    { what: "the body with the line ends of Windows", body: latin(text.replace(/\r?\n/g, "\r\n")) },
    { what: "the body without its byte order mark", body: latin(text.replace(/^\xef\xbb\xbf/, "")) },
    { what: "the body without the space around it", body: latin(text.trim()) },
    ...rewritten(bytes),
  ];
}

function rewritten(bytes: Buffer): Attempt[] {
  try {
    const value: unknown = JSON.parse(bytes.toString());
    const what = "this JSON written differently";
    return [undefined, 2, 4, "\t"].map((indent) => ({ what, body: Buffer.from(JSON.stringify(value, null, indent)) }));
  } catch {
    return [];
  }
}

function firstDifference(one: Buffer, other: Buffer): number {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) if (one[at] !== other[at]) return at;
  return length;
}
