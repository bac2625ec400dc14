/** What the presets share. A preset asks a provider's API for what happened, and reads its pages; baseUrl stands for the origin of the API. */

import type { PageAnswer, PageReader } from "../page-reader.ts";

export type PresetOptions = Readonly<Record<string, string | readonly string[]>>;
export type Preset = (options: PresetOptions) => PageReader;

const SHOWN_UNITS_MAX = 200;

/** The address of a path of the provider's API. */
export function addressOf(options: PresetOptions, origin: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  const url = new URL(`${typeof options.baseUrl === "string" ? options.baseUrl.replace(/\/+$/, "") : origin}${path}`);
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  return url.href;
}

export function bearer(secrets: readonly string[]): Record<string, string> {
  return { authorization: `Bearer ${secrets[0] ?? ""}`, accept: "application/json", "user-agent": "inlet" };
}

/** The JSON of a successful answer; any other is an error, which shows the beginning of the answer. */
export function jsonOf({ status, body }: PageAnswer): unknown {
  if (status < 200 || status >= 300) throw new Error(`The provider answered with status ${status}: ${body.slice(0, SHOWN_UNITS_MAX)}`);
  try {
    return JSON.parse(body);
  } catch {
    throw new Error(`The provider's answer is not JSON: ${body.slice(0, SHOWN_UNITS_MAX)}`);
  }
}

/** The list in a field of an answer. */
export function listIn(answer: unknown, field: string): Record<string, unknown>[] {
  const list = typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>)[field] : undefined;
  if (!Array.isArray(list)) throw new Error(`The provider's answer has no list of ${field}.`);
  return list as Record<string, unknown>[];
}

/** A parameter of the address of the next page, which a `Link` header names. */
export function nextInLink({ headers }: PageAnswer, parameter: string): string | undefined {
  const [, address] = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(headers.link ?? "") ?? [];
  if (address === undefined || !URL.canParse(address, "http://provider.invalid")) return undefined;
  return new URL(address, "http://provider.invalid").searchParams.get(parameter) ?? undefined;
}

/** ISO 8601 as seconds since 1970. */
export function secondsOf(instant: string): number {
  return Math.floor(Date.parse(instant) / 1_000);
}
