/** Header lines of HTTP/1.1 that are written to the letter: what reads them so can be sure that nobody else reads them otherwise. */

export interface PlainHeaders {
  /** By their names in small letters; each came once. */
  headers: Record<string, string>;
  /** Names and values in turn, as they came. */
  rawHeaders: string[];
}

// It has one way to match a text at most, so that it is not slow to refuse.
const HEADER_LINE = /([!#$%&'*+.^_`|~0-9A-Za-z-]+):([\t\x20-\x7e]*)\r\n/y;

/** The lines from `from` up to the empty one at the end of the text. Null when one is not plain, came before, or is among `refused`. */
export function readPlainHeaders(text: string, from: number, refused: ReadonlySet<string>): PlainHeaders | null {
  const headers: Record<string, string> = {};
  const rawHeaders: string[] = [];
  const end = text.length - 2;
  for (let at = from; at < end; at = HEADER_LINE.lastIndex) {
    HEADER_LINE.lastIndex = at;
    const line = HEADER_LINE.exec(text);
    if (!line) return null;
    const [, rawName = "", rawValue = ""] = line;
    const name = rawName.toLowerCase();
    const value = rawValue.trim();
    // Also true of what every object has, `__proto__` for one.
    if (refused.has(name) || name in headers) return null;
    headers[name] = value;
    rawHeaders.push(rawName, value);
  }
  return { headers, rawHeaders };
}
