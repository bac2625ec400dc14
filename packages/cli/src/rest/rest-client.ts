/** REST API client. Errors are CommandFaults with the service's message and code, and a suggested fix. */

import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";
import { isTimeout, reasonOf } from "./fetch-fault.ts";
import { refusal } from "./refusal.ts";

export interface Connection {
  url: string;
  apiKey: string | null;
  /** Null: the server's default environment. */
  env: string | null;
}

export interface RestCall {
  method?: string;
  /** Path below /v1, with encoded segments. */
  path: string;
  query?: Query;
  body?: unknown;
  /** Overrides that of the connection. */
  env?: string | null;
  /** For requests that usually take long: `LONG_TIMEOUT_MS`. */
  timeoutMs?: number;
}

export type Query = Readonly<Record<string, string | number | null | undefined>>;

export interface RestResponse<Value> {
  value: Value;
  /** The unparsed text, for content that parsing would change. */
  text: string;
  headers: Headers;
}

export interface Page<Item> {
  data: Item[];
  page?: { next?: string | null };
}

export interface RestClient {
  base: string;
  call<Value>(call: RestCall): Promise<RestResponse<Value>>;
  /** The `data` of the response. */
  data<Value>(call: RestCall): Promise<Value>;
  /** Up to `limit` items of a list, over as many pages as needed. */
  list<Item>(call: RestCall, limit?: number): Promise<{ items: Item[]; next: string | null }>;
  /** The response itself, for a stream. */
  open(call: RestCall, options: { headers?: Record<string, string>; signal: AbortSignal }): Promise<Response>;
}

const PAGE_LIMIT = 100;
export const TIMEOUT_MS = 30_000;
/** For requests that are answered only once the service has counted, read or prepared everything. Node's fetch itself gives up after 300 s. */
export const LONG_TIMEOUT_MS = 290_000;

/** `ending` ends every request: a user who presses Ctrl-C waits for none. */
export function createRestClient(connection: Connection, ending?: AbortSignal): RestClient {
  const base = connection.url.replace(/\/+$/, "");
  const request = (call: RestCall, signal: AbortSignal, headers: Record<string, string> = {}) =>
    fetch(`${base}/v1${call.path}${queryText(call.query)}`, {
      method: call.method ?? "GET",
      // Redirects are not followed, because a POST would become a GET.
      redirect: "manual",
      signal: ending ? AbortSignal.any([ending, signal]) : signal,
      headers: { ...headersOf(connection, call), ...headers },
      ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    }).catch((error: unknown) => {
      throw unreachable(base, error, call);
    });

  async function call<Value>(details: RestCall): Promise<RestResponse<Value>> {
    const response = await request(details, AbortSignal.timeout(details.timeoutMs ?? TIMEOUT_MS));
    const text = await textOf(base, response, details);
    const value = asJson(text);
    if (!response.ok) throw refusal(base, response.status, value);
    if ((value as { data?: unknown } | null | undefined)?.data == null) throw notInlet(base);
    return { value: value as Value, text, headers: response.headers };
  }

  return {
    base,
    call,
    data: async <Value>(details: RestCall) => (await call<{ data: Value }>(details)).value.data,
    async list<Item>(details: RestCall, limit = Number.POSITIVE_INFINITY) {
      const items: Item[] = [];
      let cursor = details.query?.cursor ?? null;
      do {
        const query = { ...details.query, cursor, limit: Math.min(PAGE_LIMIT, limit - items.length) };
        const { value } = await call<Page<Item>>({ ...details, query });
        cursor = nextCursor(base, value);
        items.push(...value.data);
      } while (cursor !== null && items.length < limit);
      return { items, next: cursor as string | null };
    },
    async open(details, { headers = {}, signal }) {
      const response = await request(details, signal, { accept: "text/event-stream", ...headers });
      if (response.headers.get("content-type")?.startsWith("text/event-stream")) return response;
      if (response.ok) throw notInlet(base);
      throw refusal(base, response.status, asJson(await textOf(base, response, details)));
    },
  };
}

function headersOf({ apiKey, env: usualEnv }: Connection, { body, env = usualEnv }: RestCall): Record<string, string> {
  return {
    accept: "application/json",
    ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
    ...(env !== null && { "x-service-env": env }),
    ...(body !== undefined && { "content-type": "application/json" }),
  };
}

async function textOf(base: string, response: Response, call: RestCall): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    throw unreachable(base, error, call);
  }
}

/** The cursor of the next page; null: there is none. */
export function nextCursor(base: string, { data, page }: Page<unknown>): string | null {
  const next = page?.next;
  if (!Array.isArray(data) || next === undefined) throw notInlet(base);
  return next;
}

/** Another program may listen there, such as a dev server of Inngest, which has the same port. */
function notInlet(base: string): CommandFault {
  return new CommandFault(
    `${base} did not return what an Inlet service returns. Check the URL, which is set with --url or INLET_BASE_URL.`,
  );
}

export function unreachable(base: string, error: unknown, { timeoutMs = TIMEOUT_MS }: Pick<RestCall, "timeoutMs"> = {}): CommandFault {
  const reason = reasonOf(error, timeoutMs);
  // Connecting has a shorter time limit: the service runs, but takes long.
  const sentence = isTimeout(error)
    ? `The service at ${base} gave ${reason}. Retry later.`
    : `The service at ${base} cannot be reached: ${reason}. Start it, or set its URL with --url or INLET_BASE_URL.`;
  return new CommandFault(sentence, "service_unreachable", EXIT.unreachable);
}

function queryText(query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length > 0 ? `?${new URLSearchParams(given)}` : "";
}

export function asJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
