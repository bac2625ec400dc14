/** What the presets share. A preset asks a provider's API for what happened, and reads its pages; baseUrl stands for the origin of the API. */

import type { ListRange, PageReader, PageRequest, PageResponse, SignIn } from "../page-reader.ts";

export type PresetOptions = Readonly<Record<string, string | readonly string[]>>;
export type Preset = (options: PresetOptions) => PageReader;

const SHOWN_UNITS_MAX = 200;

/** The address of a path of the provider's API. */
export function addressOf(options: PresetOptions, origin: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = new URL(`${typeof options.baseUrl === "string" ? options.baseUrl.replace(/\/+$/, "") : origin}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  return url.href;
}

const PLAIN = { accept: "application/json", "user-agent": "inlet" } as const;

export function bearer(secrets: readonly string[]): Record<string, string> {
  return { authorization: `Bearer ${secrets[0] ?? ""}`, ...PLAIN };
}

export function basic(user: string, secrets: readonly string[]): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(`${user}:${secrets[0] ?? ""}`).toString("base64")}`, ...PLAIN };
}

/** A key in a header of the provider's own. */
export function keyHeader(name: string, secrets: readonly string[]): Record<string, string> {
  return { [name]: secrets[0] ?? "", ...PLAIN };
}

export function get(url: string, headers: Readonly<Record<string, string>>): PageRequest {
  return { method: "GET", url, headers, body: null };
}

/** The token of OAuth's client credentials. */
export function clientCredentials(request: SignIn["request"]): SignIn {
  return {
    request,
    read(response) {
      const { access_token: token, expires_in: expiresInSeconds } = objectOf(response);
      if (typeof token !== "string" || token === "") throw new Error("The provider's response has no access token.");
      return { token, expiresInSeconds: Number(expiresInSeconds) };
    },
  };
}

/** The JSON of a successful response; any other is an error, which shows the beginning of the response. */
export function jsonOf({ status, body }: PageResponse): unknown {
  if (status < 200 || status >= 300) throw new Error(`The provider answered with status ${status}: ${body.slice(0, SHOWN_UNITS_MAX)}`);
  try {
    return JSON.parse(body);
  } catch {
    throw new Error(`The provider's response is not JSON: ${body.slice(0, SHOWN_UNITS_MAX)}`);
  }
}

/** The same, if it is an object. */
export function objectOf(response: PageResponse): Record<string, unknown> {
  const found = jsonOf(response);
  if (!isRecord(found)) throw new Error("The provider's response is not an object.");
  return found;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The list in a field of a response. */
export function listIn(response: unknown, field: string): Record<string, unknown>[] {
  return recordsOf(isRecord(response) ? response[field] : undefined, field);
}

/** A list of objects. */
export function recordsOf(list: unknown, what: string): Record<string, unknown>[] {
  if (!Array.isArray(list)) throw new Error(`The provider's response has no list of ${what}.`);
  if (!list.every(isRecord)) throw new Error(`The provider's list of ${what} has an entry that is not an object.`);
  return list;
}

/**
 * What of a list, newest first, is in the range, and whether what follows is older. An entry without a time is in the range. `timeOf` returns
 * an instant in ISO 8601, or in milliseconds since 1970.
 */
export function inRange<T>(list: readonly T[], timeOf: (one: T) => unknown, { since, until }: ListRange): { within: T[]; isPast: boolean } {
  const [from, to] = [Date.parse(since), Date.parse(until)];
  const at = (one: T) => {
    const time = timeOf(one);
    return typeof time === "number" ? time : Date.parse(String(time));
  };
  const last = list.at(-1);
  return { within: list.filter((one) => !(at(one) < from || at(one) > to)), isPast: last !== undefined && at(last) < from };
}

/** Whether an event of this type is asked for: all are without the option `events`. */
export function isOfType({ events }: PresetOptions, type: unknown): boolean {
  return !Array.isArray(events) || events.includes(type);
}

/** The cursor of a list that is paged by number. */
export function pageOf(cursor: unknown): number {
  return typeof cursor === "number" ? cursor : 1;
}

/** A parameter of an address that a response names. The rest of the address is not used: it could lead elsewhere. */
export function parameterOf(address: unknown, parameter: string): string | undefined {
  if (typeof address !== "string" || !URL.canParse(address, ANYWHERE)) return undefined;
  return new URL(address, ANYWHERE).searchParams.get(parameter) ?? undefined;
}

const ANYWHERE = "http://provider.invalid";

/** A field of an object, wherever it is; undefined if there is none. */
export function fieldOf(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

/** A parameter of the address of the next page, which a `Link` header names. */
export function nextInLink({ headers }: PageResponse, parameter: string): string | undefined {
  const [, address] = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(headers.link ?? "") ?? [];
  return parameterOf(address, parameter);
}

/** ISO 8601 as seconds since 1970. */
export function secondsOf(instant: string): number {
  return Math.floor(Date.parse(instant) / 1_000);
}
