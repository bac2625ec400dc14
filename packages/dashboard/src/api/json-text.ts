/**
 * Reads JSON without changing it: finds values in a text and returns slices of that text. Payloads are rendered
 * from these slices, so large numbers, key order and duplicate keys appear as they were sent.
 */

/** The text of one JSON value. */
export type JsonText = string;

export interface JsonEntry {
  /** Null in an array. */
  key: string | null;
  text: JsonText;
}

export type JsonKind = "object" | "array" | "string" | "number" | "boolean" | "null";

export function kindOf(text: JsonText): JsonKind {
  switch (text[0]) {
    case "{":
      return "object";
    case "[":
      return "array";
    case '"':
      return "string";
    case "t":
    case "f":
      return "boolean";
    case "n":
      return "null";
    default:
      return "number";
  }
}

/** The members of an object or the elements of an array. The text must be valid JSON. */
export function entriesOf(text: JsonText): JsonEntry[] {
  const isObject = text[0] === "{";
  const entries: JsonEntry[] = [];
  let at = skipSpace(text, 1);
  while (at < text.length && text[at] !== "}" && text[at] !== "]") {
    let key: string | null = null;
    if (isObject) {
      const keyEnd = stringEnd(text, at);
      key = JSON.parse(text.slice(at, keyEnd)) as string;
      at = skipSpace(text, skipSpace(text, keyEnd) + 1);
    }
    const end = valueEnd(text, at);
    if (end <= at) throw new SyntaxError("not JSON");
    entries.push({ key, text: text.slice(at, end) });
    at = skipSpace(text, end);
    if (text[at] === ",") at = skipSpace(text, at + 1);
  }
  return entries;
}

/** The members of an object by name. For a duplicate name, the last one. */
export function membersOf(text: JsonText): Map<string, JsonText> {
  return new Map(entriesOf(text).map(({ key, text: value }) => [key ?? "", value]));
}

/** The text trimmed, if it is JSON; otherwise null. */
export function readJsonText(text: string): JsonText | null {
  try {
    JSON.parse(text);
    return text.trim();
  } catch {
    return null;
  }
}

/** The same JSON, indented. Only whitespace between tokens changes. */
export function formatJson(text: JsonText, indent = ""): string {
  const kind = kindOf(text);
  if (kind !== "object" && kind !== "array") return text;
  const entries = entriesOf(text);
  const [open, close] = kind === "object" ? ["{", "}"] : ["[", "]"];
  if (entries.length === 0) return open + close;
  const inner = `${indent}  `;
  const lines = entries.map(({ key, text: value }) => inner + (key === null ? "" : `${JSON.stringify(key)}: `) + formatJson(value, inner));
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

export function objectText(members: Iterable<readonly [string, JsonText]>): JsonText {
  return `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;
}

function valueEnd(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return stringEnd(text, start);
  if (first === "{" || first === "[") return containerEnd(text, start);
  let at = start;
  while (at < text.length && !/[\s,\]}]/.test(text[at] as string)) at++;
  return at;
}

function containerEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at) - 1;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return at + 1;
  }
  return text.length;
}

function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= 0x20) at++;
  return at;
}
