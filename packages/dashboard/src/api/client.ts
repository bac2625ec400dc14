/** Calls of the REST API. Answers come as text, so that payloads can be shown as they are; errors carry the server's own sentence. */

import { entriesOf, type JsonText, membersOf } from "./json-text.ts";

export interface Fault {
  field?: string;
  index?: number;
  message: string;
  line?: number;
  column?: number;
}

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly details: Fault[];

  constructor(status: number, code: string, message: string, details: Fault[] = []) {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
  }
}

export interface CallOptions {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  /** The environment the call is about; null: the service's default. */
  env?: string | null;
  body?: unknown;
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
}

export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Told of every answer that says the session is missing or over. */
let onSignedOut = () => {};
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

const SIGNED_OUT_CODES = new Set(["session_missing", "api_key_missing", "api_key_invalid"]);

/** The text of an answer's `data`. */
export async function callForText(path: string, options: CallOptions = {}): Promise<JsonText> {
  return membersOf(await answerText(path, options)).get("data") ?? "null";
}

/** The answer's `data` as a value, where no payload is in it. */
export async function call<Data>(path: string, options: CallOptions = {}): Promise<Data> {
  return JSON.parse(await callForText(path, options)) as Data;
}

/** One page of a list, each item read from its own text. */
export async function callForPage<Item>(path: string, read: (text: JsonText) => Item, options: CallOptions = {}): Promise<Page<Item>> {
  const members = membersOf(await answerText(path, options));
  const page = JSON.parse(members.get("page") ?? "null") as { next: string | null } | null;
  return { items: entriesOf(members.get("data") ?? "[]").map(({ text }) => read(text)), next: page?.next ?? null };
}

export function parsed<Item>(text: JsonText): Item {
  return JSON.parse(text) as Item;
}

/** Beyond this a list is not short by nature any more, and nobody reads it to its end. */
export const ALL_ITEMS_MAX = 2_000;

/** Every item of a list that is short by nature: environments, keys, functions. */
export async function callForAll<Item>(path: string, options: CallOptions = {}): Promise<Item[]> {
  const all: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await callForPage<Item>(path, parsed, { ...options, query: { ...options.query, cursor } });
    all.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined && all.length < ALL_ITEMS_MAX);
  return all;
}

export function requestOf(path: string, { method = "GET", env, body, query = {}, signal }: CallOptions): [string, RequestInit] {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== "") parameters.set(name, String(value));
  const search = parameters.size > 0 ? `?${parameters}` : "";
  return [
    `/v1${path}${search}`,
    {
      method,
      credentials: "same-origin",
      headers: {
        ...(env && { "x-service-env": env }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    },
  ];
}

async function answerText(path: string, options: CallOptions): Promise<string> {
  let response: Response;
  try {
    response = await fetch(...requestOf(path, options));
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", "The service does not answer. Is it running?");
  }
  const text = await response.text();
  if (response.ok) return text;
  throw errorOf(response.status, text);
}

export function errorOf(status: number, text: string): ApiError {
  let error: ApiError;
  try {
    const body = JSON.parse(text) as { error: string; code: string; details?: Fault[] };
    error = new ApiError(status, body.code, body.error, body.details);
  } catch {
    error = new ApiError(status, "unknown", `The service answered with status ${status} and no explanation.`);
  }
  if (status === 401 && SIGNED_OUT_CODES.has(error.code)) onSignedOut();
  return error;
}
