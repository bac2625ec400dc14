/** The settings of a client: its options first, then the variables, then the defaults. A variable INLET_X may also be called SERVICE_X. */

import { readVariable, type Variables } from "../variables.ts";
import { EnvironmentName } from "./environment-name.ts";

export const DEV_BASE_URL = "http://localhost:8288";

/** The part of `fetch` that the SDK uses, so that any implementation works. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

export interface FetchResponse {
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
  /** The event key. Default: INLET_EVENT_KEY or SERVICE_EVENT_KEY. Not needed in dev. */
  eventKey?: string | undefined;
  /** The URL of the service. Default: INLET_BASE_URL; in dev http://localhost:8288. */
  baseUrl?: string | undefined;
  /** The branch environment to use. Default: INLET_ENV. */
  env?: string | undefined;
  /** Verifies calls from the service and authenticates the app to it. Default: INLET_SIGNING_KEY. */
  signingKey?: string | undefined;
  /** The previous signing key, during rotation. Default: INLET_SIGNING_KEY_FALLBACK. */
  signingKeyFallback?: string | undefined;
  /** Works with a local dev server: no keys, no signatures. Default: INLET_DEV, else NODE_ENV=development. */
  isDev?: boolean | undefined;
  fetch?: Fetch | undefined;
  logger?: Logger | undefined;
  /** Whether what functions write through `ctx.logger` is also sent to the service, which shows it with the run. Default: true. */
  sendLogs?: boolean | undefined;
  /** Variables that take precedence over those of the process, for runtimes that pass them per request. */
  variables?: Variables | undefined;
}

export interface Settings {
  isDev: boolean;
  eventKey: string | undefined;
  /** Without a trailing slash. */
  baseUrl: string | undefined;
  environment: EnvironmentName;
  /** The current key first. */
  signingKeys: readonly string[];
  fetch: Fetch;
  logger: Logger;
  sendLogs: boolean;
}

export function readSettings(options: SettingsOptions): Settings {
  const variable = (name: string) => readVariable(`INLET_${name}`, options.variables) ?? readVariable(`SERVICE_${name}`, options.variables);
  const dev = readDev(options, variable("DEV"));
  const baseUrl = options.baseUrl || variable("BASE_URL") || dev.url || (dev.isDev ? DEV_BASE_URL : undefined);
  const logger = options.logger ?? console;
  const keys = [options.signingKey || variable("SIGNING_KEY"), options.signingKeyFallback || variable("SIGNING_KEY_FALLBACK")];
  return {
    isDev: dev.isDev,
    eventKey: options.eventKey || variable("EVENT_KEY"),
    baseUrl: baseUrl && checkedUrl(baseUrl),
    environment: readEnvironment(options, logger),
    signingKeys: keys.filter((key) => key !== undefined),
    // Looked up at each call: test tools and frameworks replace the global one.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    logger,
    sendLogs: options.sendLogs ?? true,
  };
}

/** Missing keys never imply dev mode, because in dev unsigned calls are accepted. INLET_DEV may also be the URL of the dev server. */
function readDev({ isDev, variables }: SettingsOptions, text: string | undefined): { isDev: boolean; url?: string } {
  const url = text && /^https?:\/\//.test(text) ? { url: text } : {};
  if (isDev !== undefined) return { isDev, ...url };
  if (text !== undefined) return { isDev: !/^(?:0|false|no|off)$/i.test(text), ...url };
  return { isDev: readVariable("NODE_ENV", variables) === "development" };
}

/** Platforms set SERVICE_ENV for purposes of their own, so it counts only if the key has such an environment. */
function readEnvironment({ env, variables }: SettingsOptions, logger: Logger): EnvironmentName {
  const chosen = env || readVariable("INLET_ENV", variables);
  if (chosen) return new EnvironmentName(chosen, { isCertain: true, logger });
  return new EnvironmentName(readVariable("SERVICE_ENV", variables), { isCertain: false, logger });
}

function checkedUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new TypeError(`Not the address of a service: "${text}" (baseUrl or INLET_BASE_URL)`);
  const { username, password } = new URL(text);
  // The fetch standard refuses such a URL. It is not repeated, since it contains a password.
  if (username || password)
    throw new TypeError("The address of the service must not contain a user name or password (baseUrl or INLET_BASE_URL)");
  return text.replace(/\/+$/, "");
}
