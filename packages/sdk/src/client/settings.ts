/** The settings of a client: its options first, then the SERVICE_* variables, then the defaults. */

import { readVariable, type Variables } from "../variables.ts";

export const DEV_BASE_URL = "http://localhost:8288";

/** The part of `fetch` that the SDK uses, so that any implementation works. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

export interface FetchAnswer {
  status: number;
  headers: { get(name: string): string | null };
  text(): Promise<string>;
}

export interface Logger {
  debug(...args: unknown[]): void;
  info(...args: unknown[]): void;
  warn(...args: unknown[]): void;
  error(...args: unknown[]): void;
}

export interface SettingsOptions {
  /** The event key. Default: SERVICE_EVENT_KEY. Not needed in dev. */
  eventKey?: string | undefined;
  /** The URL of the service. Default: SERVICE_BASE_URL; in dev http://localhost:8288. */
  baseUrl?: string | undefined;
  /** The branch environment to use. Default: SERVICE_ENV. */
  env?: string | undefined;
  /** Verifies calls from the service and authenticates the app to it. Default: SERVICE_SIGNING_KEY. */
  signingKey?: string | undefined;
  /** The previous signing key, during rotation. Default: SERVICE_SIGNING_KEY_FALLBACK. */
  signingKeyFallback?: string | undefined;
  /** Works with a local dev server: no keys, no signatures. Default: SERVICE_DEV, else NODE_ENV=development. */
  isDev?: boolean | undefined;
  fetch?: Fetch | undefined;
  logger?: Logger | undefined;
  /** Variables that take precedence over those of the process, for runtimes that pass them per request. */
  variables?: Variables | undefined;
}

export interface Settings {
  isDev: boolean;
  eventKey: string | undefined;
  /** Without a trailing slash. */
  baseUrl: string | undefined;
  environment: string | undefined;
  /** The current key first. */
  signingKeys: readonly string[];
  fetch: Fetch;
  logger: Logger;
}

export function readSettings(options: SettingsOptions): Settings {
  const variable = (name: string) => readVariable(name, options.variables);
  const dev = readDev(options, variable);
  const baseUrl = options.baseUrl || variable("SERVICE_BASE_URL") || dev.url || (dev.isDev ? DEV_BASE_URL : undefined);
  const keys = [
    options.signingKey || variable("SERVICE_SIGNING_KEY"),
    options.signingKeyFallback || variable("SERVICE_SIGNING_KEY_FALLBACK"),
  ];
  return {
    isDev: dev.isDev,
    eventKey: options.eventKey || variable("SERVICE_EVENT_KEY"),
    baseUrl: baseUrl && checkedUrl(baseUrl),
    environment: options.env || variable("SERVICE_ENV"),
    signingKeys: keys.filter((key) => key !== undefined),
    // Looked up at each call: test tools and frameworks replace the global one.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    logger: options.logger ?? console,
  };
}

/** Missing keys never imply dev mode, because in dev unsigned calls are accepted. SERVICE_DEV may also be the URL of the dev server. */
function readDev({ isDev }: SettingsOptions, variable: (name: string) => string | undefined): { isDev: boolean; url?: string } {
  const text = variable("SERVICE_DEV");
  const url = text && /^https?:\/\//.test(text) ? { url: text } : {};
  if (isDev !== undefined) return { isDev, ...url };
  if (text !== undefined) return { isDev: !/^(?:0|false|no|off)$/i.test(text), ...url };
  return { isDev: variable("NODE_ENV") === "development" };
}

function checkedUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new TypeError(`Not the address of a service: "${text}" (baseUrl or SERVICE_BASE_URL)`);
  return text.replace(/\/+$/, "");
}
