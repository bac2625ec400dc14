/** The items of a page that a provider lists: checked, and in the form in which a job stores them. */

import { EVENT_ID_SEED_HEADER } from "@inlet/protocol";

/** What came of an item, or would. */
export type TakenItem = { kind: "seen" } | { kind: "recovered" } | { kind: "failed"; message: string };

/** A quota of a second has no room: the item is taken again. */
export interface NotNow {
  kind: "not now";
  message: string;
}

/** A request as the provider would have sent it. */
export interface ListedItem {
  body: string;
  /** Names and values. */
  headers: readonly (readonly [name: string, value: string])[];
  /** The id that the provider gives it; null: it has none. */
  id: string | null;
  /** Why it cannot be taken: the provider lists it without its body. */
  fault?: string;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** They describe the transfer of a body, or choose the id of an event, which a listed item does not. */
const LEFT_OUT: ReadonlySet<string> = new Set(["content-length", "transfer-encoding", "content-encoding", EVENT_ID_SEED_HEADER]);
const JSON_TYPE = "application/json";

/** Throws an Error whose message says what is wrong. */
export function readItem(given: unknown, index: number): ListedItem {
  if (typeof given !== "object" || given === null || Array.isArray(given)) throw new Error(`items[${index}] must be an object with body`);
  const { body, headers, id } = given as { body?: unknown; headers?: unknown; id?: unknown };
  if (body === undefined) throw new Error(`items[${index}].body is required`);
  const named = readHeaders(headers, index);
  const hasType = named.some(([name]) => name.toLowerCase() === "content-type");
  const isJson = typeof body !== "string" || isJsonText(body);
  return {
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: hasType || !isJson ? named : [["Content-Type", JSON_TYPE], ...named],
    id: readId(id, index),
  };
}

/** An item of which the provider has no body. */
export function itemWithFault(id: string, fault: string): ListedItem {
  return { body: "", headers: [], id, fault };
}

function readHeaders(headers: unknown, index: number): [string, string][] {
  if (headers === undefined || headers === null) return [];
  if (typeof headers !== "object" || Array.isArray(headers)) throw new Error(`items[${index}].headers must be an object`);
  return Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (!HEADER_NAME.test(name)) throw new Error(`items[${index}].headers has a name that no header can have`);
    if (LEFT_OUT.has(name.toLowerCase()) || value === null) return [];
    return [[name, Array.isArray(value) ? value.join(", ") : String(value)]];
  });
}

function readId(id: unknown, index: number): string | null {
  if (id === undefined || id === null || id === "") return null;
  if (typeof id !== "string" && typeof id !== "number") throw new Error(`items[${index}].id must be a text`);
  return String(id);
}

function isJsonText(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** As an item of a job: texts only, so that it can be stored. */
export function writeItem({ body, headers, id, fault }: ListedItem): string {
  return JSON.stringify({ body, headers, id, fault });
}

export function readWrittenItem(text: string): ListedItem {
  return JSON.parse(text) as ListedItem;
}
