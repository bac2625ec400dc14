/** Parses requests of the peer's clients. Unknown parameters and fields are ignored here, as in the peer's API. */

import { type EventId, isDeeperThan, isEventId, type RunId } from "@inlet/protocol";
import { readInstant } from "../instant.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { BODY_DEPTH_MAX } from "../rest-schemas.ts";

const LIMIT_MAX = 100;
const LIMIT_USUAL = 20;

export type Query = Readonly<Record<string, string | string[] | undefined>>;

export function queryText(query: Query, name: string): string | null {
  const value = query[name];
  const first = Array.isArray(value) ? value[0] : value;
  return first === undefined || first === "" ? null : first;
}

/** Values out of bounds are clamped, as in the peer's API. */
export function readLimit(query: Query): number {
  const given = Number(queryText(query, "limit") ?? LIMIT_USUAL);
  return Number.isInteger(given) ? Math.min(Math.max(given, 1), LIMIT_MAX) : LIMIT_USUAL;
}

export function queryInstant(query: Query, name: string): number | null {
  const text = queryText(query, name);
  return text === null ? null : readInstant(name, text);
}

export function readEventId(text: string): EventId {
  const id = text.toUpperCase();
  if (!isEventId(id)) throw invalid("event id", `"${text}" is not a ULID`);
  return id as EventId;
}

export function readRunId(text: string): RunId {
  const id = text.toUpperCase();
  if (!isEventId(id)) throw invalid("run id", `"${text}" is not a ULID`);
  return id as string as RunId;
}

export function readBody(body: unknown): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(typeof body === "string" ? body : "");
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isObject && !isDeeperThan(value, BODY_DEPTH_MAX)) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw new RestRefusal("body_invalid", `The body must be a JSON object, nested at most ${BODY_DEPTH_MAX} deep.`);
}
