/** What a compiled keyword or subschema is. */

import type { BoundedPattern } from "./bounded-pattern.ts";
import type { Linked } from "./schema-run.ts";

export type { Check, Linked } from "./schema-run.ts";

/** What a keyword needs to be compiled. */
export interface Linking {
  keywords: Readonly<Record<string, unknown>>;
  /** The compiled subschemas of a keyword, by name or index. */
  subschemas(keyword: string): readonly { key: string; schema: Linked }[];
  pattern(text: string): BoundedPattern;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
