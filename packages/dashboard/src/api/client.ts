/** REST API client. Responses are kept as text, so that payloads are shown exactly as stored. Errors carry the server's message. */

import { reportAway, reportContact } from "./connection.ts";
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
  /** The environment of the call; null for the default. */
  env?: string | null;
  body?: unknown;
  /** The body as JSON text, for values that have to stay as they were written. */
  bodyText?: JsonText;
  query?: Record<string, string | number | undefined>;
  signal?: AbortSignal;
}

export interface Page<Item> {
  items: Item[];
  next: string | null;
}

/** Called when a response says that the session is missing or has ended. */
let onSignedOut = () => {};
export function whenSignedOut(listener: () => void): void {
  onSignedOut = listener;
}

/** A response to a request from before the last sign-in says nothing about the session that began with it. */
let signIns = 0;
export function noteSignIn(): void {
  signIns++;
}

const SIGNED_OUT_CODES = new Set(["session_missing", "api_key_missing", "api_key_invalid"]);

/** The text of a response's `data`. */
export async function callForText(path: string, options: CallOptions = {}): Promise<JsonText> {
  return membersOf(await responseText(path, options)).get("data") ?? "null";
}

/** The response's `data`, parsed. Not for responses that contain payloads. */
export async function call<Data>(path: string, options: CallOptions = {}): Promise<Data> {
  return JSON.parse(await callForText(path, options)) as Data;
}

/** One page of a list. Each item is read from its own text. */
export async function callForPage<Item>(path: string, read: (text: JsonText) => Item, options: CallOptions = {}): Promise<Page<Item>> {
  const members = membersOf(await responseText(path, options));
  const page = JSON.parse(members.get("page") ?? "null") as { next: string | null } | null;
  return { items: entriesOf(members.get("data") ?? "[]").map(({ text }) => read(text)), next: page?.next ?? null };
}

export function parsed<Item>(text: JsonText): Item {
  return JSON.parse(text) as Item;
}

/** The limit for lists that are loaded whole. */
export const ALL_ITEMS_MAX = 2_000;

/** All items of a short list, such as environments, keys or functions. */
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

export function requestOf(path: string, { method = "GET", env, body, bodyText, query = {}, signal }: CallOptions): [string, RequestInit] {
  const text = bodyText ?? (body === undefined ? undefined : JSON.stringify(body));
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
        ...(text !== undefined && { "content-type": "application/json" }),
      },
      ...(text !== undefined && { body: text }),
      ...(signal && { signal }),
    },
  ];
}

async function responseText(path: string, options: CallOptions): Promise<string> {
  let response: Response;
  const signInsBefore = signIns;
  try {
    response = await fetch(...requestOf(path, options));
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    reportAway();
    throw new ApiError(0, "unreachable", "The service is not responding. Check that it is running.");
  }
  const text = await response.text();
  if (!response.ok) throw errorOf(response.status, text, { isOfSession: signInsBefore === signIns });
  reportContact();
  return text;
}

/** A proxy in front of a service that is away answers with these, and with a text of its own. */
const GATEWAY_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

export function errorOf(status: number, text: string, { isOfSession = true } = {}): ApiError {
  let error: ApiError;
  try {
    const body = JSON.parse(text) as { error: string; code: string; details?: Fault[] };
    error = new ApiError(status, body.code, body.error, body.details);
  } catch {
    if (GATEWAY_STATUSES.has(status)) reportAway();
    error = new ApiError(status, "unknown", `The service returned status ${status} without an error message.`);
  }
  if (status === 401 && isOfSession && SIGNED_OUT_CODES.has(error.code)) onSignedOut();
  return error;
}
