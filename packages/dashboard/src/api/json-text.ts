/**
 * Reads JSON without changing it: finds values in a text and returns slices of that text. Payloads are rendered
 * from these slices, so large numbers, key order and duplicate keys appear as they were sent.
 */

import { jsonEntries } from "@inlet/protocol/json";

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

/** The members of an object or the elements of an array. Throws if the text is not valid JSON. */
export function entriesOf(text: JsonText): JsonEntry[] {
  return jsonEntries(text).map(({ key, start, end }) => ({ key, text: text.slice(start, end) }));
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
