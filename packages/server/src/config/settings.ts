/**
 * Every setting of the service, once. From this table come parsing, `--help`, and docs/configuration.md.
 * A setting `dataDir` is the flag `--data-dir` and the variable `SERVICE_DATA_DIR`; the flag wins.
 */

import { BODY_BYTES_MAX_DEFAULT, DEDUP_WINDOW_MS_DEFAULT } from "@inlet/protocol";
import {
  type AddressList,
  addressList,
  DAY_MS,
  duration,
  integer,
  KIB,
  key,
  list,
  MIB,
  oneOf,
  origin,
  postgresUrl,
  type Reading,
  signingKey,
  size,
  text,
  trustedProxies,
  url,
} from "./readings.ts";

export type Mode = "dev" | "start";

export interface Setting<Value> {
  reading: Reading<Value>;
  default: Value | Record<Mode, Value>;
  /** How the default is written in help and documents; a default of null is "none". */
  shown?: string;
  secret?: boolean;
  sentence: string;
}

export const SETTINGS = {
  port: setting({ reading: integer(0, 65_535), default: 8288, sentence: "Port to listen on; 0 takes any free one." }),
  host: setting<string>({
    reading: text("address"),
    default: { dev: "127.0.0.1", start: "0.0.0.0" },
    sentence: "Address to listen on.",
  }),
  publicUrl: setting<string | null>({
    reading: url(),
    default: null,
    sentence:
      "Address under which the world reaches the service, for the URLs of webhooks; otherwise the address that a connection was made to is used.",
  }),
  allowOrigin: setting<string[]>({
    reading: list(origin()),
    default: [],
    sentence: "Origin of a page that may call a dev server from a browser, such as http://localhost:3000; several are separated by commas.",
  }),
  dataDir: setting<string>({ reading: text("folder"), default: ".inlet", sentence: "Folder of the embedded store." }),
  databaseUrl: setting<string | null>({
    reading: postgresUrl(),
    default: null,
    secret: true,
    sentence: "PostgreSQL database to use instead of the embedded store: several nodes may share it.",
  }),
  databaseListenUrl: setting<string | null>({
    reading: postgresUrl({ orOff: true }),
    default: null,
    secret: true,
    sentence:
      "Where --database-url leads to a proxy that pools transactions: the same database without the proxy, for the connection that listens; off: do without it.",
  }),
  databaseConnections: setting({
    reading: integer(2, 1_000),
    default: 10,
    sentence: "Most connections of this node to PostgreSQL, beside one that listens.",
  }),
  eventKey: setting<string[]>({
    reading: list(key()),
    default: [],
    secret: true,
    sentence: "Event key of the production environment, instead of a generated one; several are separated by commas.",
  }),
  signingKey: setting<string[]>({
    reading: list(signingKey()),
    default: [],
    secret: true,
    sentence: "Signing key, `signkey-<environment>-<hex>` or hexadecimal, instead of a generated one; of several, the last one signs.",
  }),
  apiKey: setting<string[]>({
    reading: list(key()),
    default: [],
    secret: true,
    sentence: "API key with the role admin, instead of a generated one; several are separated by commas.",
  }),
  dedupWindow: setting({
    reading: duration(1, 366 * DAY_MS),
    default: DEDUP_WINDOW_MS_DEFAULT,
    shown: "24h",
    sentence: "How long an event id is remembered: an event with an id seen within this time is a duplicate.",
  }),
  bodyLimit: setting({
    reading: size(1, 256 * MIB),
    default: BODY_BYTES_MAX_DEFAULT,
    shown: "512kb",
    sentence: "Largest body of one request; an environment may have a limit of its own.",
  }),
  queueLimit: setting({
    reading: size(64 * KIB, 16 * 1024 * MIB),
    default: 64 * MIB,
    shown: "64mb",
    sentence: "Most bytes of request bodies held at once; beyond it requests are answered with 503.",
  }),
  firstByteTimeout: setting({
    reading: duration(100, 600_000),
    default: 10_000,
    shown: "10s",
    sentence: "How long a new connection may take to send its first byte.",
  }),
  stallTimeout: setting({
    reading: duration(100, 600_000),
    default: 30_000,
    shown: "30s",
    sentence: "How long a client may leave what it was sent unread before its connection is cut.",
  }),
  addressConnections: setting({
    reading: integer(0, 1_000_000),
    default: 1_000,
    sentence: "Most connections of one address, trusted proxies excepted; 0: no limit.",
  }),
  trustProxy: setting<boolean | string[]>({
    reading: trustedProxies(),
    default: false,
    shown: "false",
    sentence:
      "Take the client's address from X-Forwarded-For, as written by these proxies: their addresses and CIDR ranges. true believes anybody who connects, so any sender can claim any address.",
  }),
  transformTimeout: setting({
    reading: duration(1, 60_000),
    default: 250,
    shown: "250ms",
    sentence: "CPU time one run of a webhook's transform may take.",
  }),
  transformMemory: setting({
    reading: size(4 * MIB, 1024 * MIB),
    default: 32 * MIB,
    shown: "32mb",
    sentence: "Memory one run of a webhook's transform may take.",
  }),
  maskHeaders: setting<string[]>({
    reading: list(text("header")),
    default: [],
    sentence: "Headers whose values are masked in the record of webhook requests, such as Authorization.",
  }),
  eventRetention: setting<number | null>({
    reading: duration(60_000, 3_660 * DAY_MS),
    default: null,
    sentence: "How long events are kept; what a run that goes on needs is kept as long as that. None: for ever.",
  }),
  runRetention: setting<number | null>({
    reading: duration(60_000, 3_660 * DAY_MS),
    default: null,
    sentence: "How long runs are kept after their end, with their steps and calls. None: for ever.",
  }),
  requestRetention: setting({
    reading: duration(60_000, 3_660 * DAY_MS),
    default: 30 * DAY_MS,
    shown: "30d",
    sentence: "How long the record of webhook requests is kept.",
  }),
  appUrl: setting<string[]>({
    reading: list(url()),
    default: [],
    sentence: "Address of an app to sync when the service starts; several are separated by commas.",
  }),
  appAddresses: setting<AddressList | null>({
    reading: addressList(),
    default: null,
    shown: "all",
    sentence:
      "Addresses that apps may have: allow: or deny: and a list of addresses and CIDR ranges, such as allow:10.0.0.0/8. Link-local and cloud metadata addresses are always refused.",
  }),
  discover: setting<"on" | "off">({
    reading: oneOf("on", "off"),
    default: { dev: "on", start: "off" },
    sentence: "Look for apps on this machine, at the usual ports and paths, and sync them.",
  }),
  appCalls: setting({
    reading: integer(1, 10_000),
    default: 100,
    sentence: "Most calls to one app at the same time.",
  }),
  queuePrefetch: setting({
    reading: integer(1, 10_000),
    default: 1_000,
    sentence: "How many calls that wait for an app or a limit one node takes from the queue ahead.",
  }),
  callTimeout: setting({
    reading: duration(100, 7 * DAY_MS),
    default: 2 * 3_600_000,
    shown: "2h",
    sentence: "How long an app may take to answer a call.",
  }),
  retryInterval: setting<number | null>({
    reading: duration(1, 366 * DAY_MS),
    default: { dev: 1_000, start: null },
    sentence: "Delay before a failed call is tried again, instead of the backoff table (15s, 30s, 1m, 2m, 5m … 2h).",
  }),
  drainTimeout: setting({
    reading: duration(0, 600_000),
    default: 10_000,
    shown: "10s",
    sentence: "How long a stopping service waits for requests in flight.",
  }),
  logLevel: setting<LogLevel>({
    reading: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    // A dev server shows what happens line by line, for people.
    default: { dev: "warn", start: "info" },
    sentence: "Least serious log line that is written.",
  }),
} as const satisfies Record<string, Setting<unknown>>;

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
export type SettingName = keyof typeof SETTINGS;

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function variableOf(name: string): string {
  return `SERVICE_${flagOf(name).slice(2).replaceAll("-", "_").toUpperCase()}`;
}

export function defaultOf<Value>({ default: value }: Setting<Value>, mode: Mode): Value {
  const byMode = typeof value === "object" && value !== null && !Array.isArray(value);
  return byMode ? (value as Record<Mode, Value>)[mode] : (value as Value);
}

/** The default as a person would write it. */
export function shownDefault(setting: Setting<unknown>, mode: Mode): string {
  const value = defaultOf(setting, mode);
  if (value === null && setting.shown !== undefined) return setting.shown;
  if (value === null || (Array.isArray(value) && value.length === 0)) return "none";
  return setting.shown ?? String(value);
}

function setting<Value>(row: Setting<Value>): Setting<Value> {
  return row;
}
