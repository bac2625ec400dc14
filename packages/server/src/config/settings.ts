/**
 * The table of all settings. Parsing, `--help` and docs/reference/configuration.md are generated from it.
 * A setting `dataDir` is the flag `--data-dir` and the variable `INLET_DATA_DIR`; the flag wins.
 */

import { BODY_BYTES_MAX_DEFAULT, DAY_MS, DEDUP_WINDOW_MS_DEFAULT } from "@inlet/protocol";
import {
  type AddressList,
  addressList,
  archiveUrl,
  baseUrl,
  host,
  type ListenAddress,
  listenAddress,
  origin,
  postgresUrl,
  trustedProxies,
  url,
  urlWith,
} from "./address-readings.ts";
import { type OidcRole, oidcRoles } from "./oidc-roles.ts";
import {
  diskBudget,
  duration,
  encryptionKey,
  integer,
  KIB,
  key,
  list,
  MIB,
  oneOf,
  orNone,
  type Reading,
  signingKey,
  size,
  text,
} from "./readings.ts";

export type Mode = "dev" | "start";

export interface Setting<Value> {
  reading: Reading<Value>;
  default: Value | Record<Mode, Value>;
  /** How the default is shown in help and documents. A default of null is shown as "none". */
  shown?: string | Record<Mode, string>;
  secret?: boolean;
  sentence: string;
}

export const SETTINGS = {
  port: setting({ reading: integer(0, 65_535), default: 8288, sentence: "Port to listen on. 0 selects a free port." }),
  host: setting<string>({
    reading: host(),
    default: { dev: "127.0.0.1", start: "0.0.0.0" },
    sentence: "Address to listen on.",
  }),
  publicUrl: setting<string | null>({
    reading: baseUrl(),
    default: null,
    sentence: "Public URL of the service, used in webhook URLs. Without it, the address that the client connected to is used.",
  }),
  allowOrigin: setting<string[]>({
    reading: list(origin()),
    default: [],
    sentence: "Origin whose pages may call a dev server from a browser, such as http://localhost:3000. Separate several with commas.",
  }),
  dataDir: setting<string>({ reading: text("folder"), default: ".inlet", sentence: "Folder of the embedded store." }),
  databaseUrl: setting<string | null>({
    reading: postgresUrl(),
    default: null,
    secret: true,
    sentence: "PostgreSQL database to use instead of the embedded store. Several nodes can share it.",
  }),
  databaseListenUrl: setting<string | null>({
    reading: postgresUrl({ orOff: true }),
    default: null,
    secret: true,
    sentence: "URL of the same database for LISTEN, if --database-url is a proxy with transaction pooling. off: poll instead of listening.",
  }),
  databaseReadUrl: setting<string | null>({
    reading: postgresUrl(),
    default: null,
    secret: true,
    sentence:
      "Read replica of the database (a streaming standby) for lists, searches and figures. Their results still include every write that was confirmed before. While the replica is behind or cannot be reached, the primary answers.",
  }),
  archive: setting<string | null>({
    reading: archiveUrl(),
    default: null,
    sentence:
      "Where events, runs and steps are written as Parquet before their partition is dropped, on PostgreSQL. s3:// reads AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3.",
  }),
  databaseConnections: setting({
    reading: integer(2, 1_000),
    default: 10,
    sentence: "Maximum number of connections of this node to PostgreSQL, plus one for LISTEN. A read replica gets the same number.",
  }),
  databaseTimeout: setting({
    reading: duration(500, 60_000),
    default: 5_000,
    shown: "5s",
    sentence:
      "How long a transaction of events or runs may take on PostgreSQL before PostgreSQL ends it. A node that hangs loses its locks earlier.",
  }),
  eventKey: setting<string[]>({
    reading: list(key()),
    default: [],
    secret: true,
    sentence: "Event key of the default environment, instead of a generated one. Separate several with commas.",
  }),
  signingKey: setting<string[]>({
    reading: list(signingKey()),
    default: [],
    secret: true,
    sentence:
      "Signing key that is valid in every environment, `signkey-<environment>-<hex>` or hexadecimal, instead of generated ones. Of several, the last one signs. Keys of an environment take precedence.",
  }),
  apiKey: setting<string[]>({
    reading: list(key()),
    default: [],
    secret: true,
    sentence: "API key with the role admin, instead of a generated one. Separate several with commas.",
  }),
  encryptionKey: setting<string[]>({
    reading: list(encryptionKey()),
    default: [],
    secret: true,
    sentence:
      "Key that encrypts secrets in the store, such as the output of openssl rand -hex 32. To rotate it, put the new one before the old one: `new,old`. Without it, a key is generated and stored in the data folder, or in the PostgreSQL database.",
  }),
  dedupWindow: setting({
    reading: duration(1, 366 * DAY_MS),
    default: DEDUP_WINDOW_MS_DEFAULT,
    shown: "24h",
    sentence: "Deduplication window: an event whose id was seen within this time is a duplicate.",
  }),
  streamRetention: setting({
    reading: duration(1_000, 366 * DAY_MS),
    default: DAY_MS,
    shown: "24h",
    sentence: "How long realtime messages are kept for subscribers that reconnect; at most 10,000 per channel.",
  }),
  bodyLimit: setting({
    reading: size(1, 256 * MIB),
    default: BODY_BYTES_MAX_DEFAULT,
    shown: "512kb",
    sentence: "Maximum size of a request body. An environment can have its own limit.",
  }),
  queueLimit: setting({
    reading: size(64 * KIB, 16 * 1024 * MIB),
    default: 64 * MIB,
    shown: "64mb",
    sentence: "Maximum total size of request bodies in memory. Beyond it, requests get 503.",
  }),
  firstByteTimeout: setting({
    reading: duration(100, 600_000),
    default: 10_000,
    shown: "10s",
    sentence: "Maximum time until a new connection sends its first byte.",
  }),
  stallTimeout: setting({
    reading: duration(100, 600_000),
    default: 30_000,
    shown: "30s",
    sentence: "Maximum time that a client may leave sent data unread. Then its connection is closed.",
  }),
  addressConnections: setting({
    reading: integer(0, 1_000_000),
    default: 1_000,
    sentence: "Maximum number of connections per IP address, except for trusted proxies. 0: no limit.",
  }),
  trustProxy: setting<boolean | string[]>({
    reading: trustedProxies(),
    default: false,
    shown: "false",
    sentence:
      "Take the client's IP address from X-Forwarded-For: the IP addresses and CIDR ranges of your proxies, or true, which trusts every client and lets any sender claim any address.",
  }),
  transformTimeout: setting({
    reading: duration(1, 60_000),
    default: 250,
    shown: "250ms",
    sentence: "CPU time limit of a transform, per request.",
  }),
  transformMemory: setting({
    reading: size(4 * MIB, 1024 * MIB),
    default: 32 * MIB,
    shown: "32mb",
    sentence: "Memory limit of a transform, per request.",
  }),
  maskHeaders: setting<string[]>({
    reading: list(text("header")),
    default: [],
    sentence: "Headers whose values are masked in recorded webhook requests, such as Authorization.",
  }),
  eventRetention: setting<number | null>({
    reading: orNone(duration(60_000, 3_660 * DAY_MS)),
    default: 30 * DAY_MS,
    shown: "30d",
    sentence:
      "How long events are retained, unless their environment or event type says otherwise. State of unfinished runs is never removed. none: forever.",
  }),
  runRetention: setting<number | null>({
    reading: orNone(duration(60_000, 3_660 * DAY_MS)),
    default: 30 * DAY_MS,
    shown: "30d",
    sentence: "How long runs are retained after their end, with their steps and calls. none: forever.",
  }),
  requestRetention: setting<number | null>({
    reading: orNone(duration(60_000, 3_660 * DAY_MS)),
    default: 30 * DAY_MS,
    shown: "30d",
    sentence: "How long recorded webhook requests are retained. none: forever.",
  }),
  diskBudget: setting<number | "auto" | null>({
    reading: diskBudget(64 * MIB),
    default: "auto",
    sentence:
      "Maximum size of the store. Beyond it, the oldest events, ended runs and webhook requests are removed. auto: four fifths of the disk for the embedded store, no limit for PostgreSQL. none: no limit.",
  }),
  oidcIssuer: setting<string | null>({
    reading: url(),
    default: null,
    sentence:
      "OpenID Connect issuer for sign-in, in addition to API keys. It must be https, except on this machine, and reachable when the service starts.",
  }),
  oidcClientId: setting<string | null>({
    reading: text("id"),
    default: null,
    sentence: "Client id of Inlet at the OpenID Connect issuer.",
  }),
  oidcClientSecret: setting<string | null>({
    reading: text("secret"),
    default: null,
    secret: true,
    sentence: "Client secret of Inlet at the OpenID Connect issuer; none for a public client.",
  }),
  oidcRoles: setting<OidcRole[]>({
    reading: oidcRoles(),
    default: [],
    sentence:
      "Maps claims to roles: `claim:value=role`, such as groups:ops=operator, or a claim whose values are roles. `@` restricts a role to environments: groups:payments=operator@payments,payments-*. Separate several with commas; in each environment, a person has the highest role that matches. People without a role are refused.",
  }),
  mcp: setting<"read" | "write" | "off">({
    reading: oneOf("read", "write", "off"),
    default: "read",
    sentence:
      "What agents may do with the Model Context Protocol at /mcp, within the role of their API key: read, or also change things (write). off: there is no /mcp.",
  }),
  metricsListen: setting<ListenAddress | null>({
    reading: listenAddress(),
    default: null,
    sentence: "Address that serves GET /metrics without a key, such as 127.0.0.1:9464. Port 0 selects a free port.",
  }),
  traceUrl: setting<string | null>({
    reading: urlWith("{traceId}"),
    default: null,
    sentence: "URL of the page that shows a trace, such as https://jaeger.example/trace/{traceId}. The dashboard links to it from runs.",
  }),
  appUrl: setting<string[]>({
    reading: list(url()),
    default: [],
    sentence: "URL of an app to sync when the service starts. Separate several with commas.",
  }),
  appAddresses: setting<AddressList | null>({
    reading: addressList(),
    default: null,
    shown: "all",
    sentence:
      "Allowed addresses of apps: `allow:` or `deny:` with IP addresses and CIDR ranges, such as allow:10.0.0.0/8. Link-local and cloud metadata addresses are always refused.",
  }),
  discover: setting<"on" | "off">({
    reading: oneOf("on", "off"),
    default: { dev: "on", start: "off" },
    sentence:
      "Discover apps on this machine and sync them: ports 3000 to 3010, 4000, 4321, 5000, 5173, 8000, 8080, 8081, 8787, 8888 and 8910 to 8915; paths /api/inlet, /api/inngest, /x/inngest, /.netlify/functions/inngest and /.redwood/functions/inngest.",
  }),
  appCalls: setting({
    reading: integer(1, 10_000),
    default: 100,
    sentence: "Maximum number of concurrent calls to an app, per node.",
  }),
  queuePrefetch: setting({
    reading: integer(1, 10_000),
    default: 1_000,
    sentence: "Number of waiting calls that a node reserves in memory.",
  }),
  callTimeout: setting({
    reading: duration(100, 7 * DAY_MS),
    default: 2 * 3_600_000,
    shown: "2h",
    sentence: "How long an app may take to respond to a call.",
  }),
  lease: setting({
    reading: duration(1_000, 600_000),
    default: 30_000,
    shown: "30s",
    sentence:
      "How long other nodes that share the database wait before they take over the work of a node that crashed. Nodes renew their leases four times in this time.",
  }),
  pollInterval: setting({
    reading: duration(100, 60_000),
    default: 5_000,
    shown: "5s",
    sentence: "How often a node that shares a database looks for work that no notification announced.",
  }),
  retryInterval: setting<number | null>({
    reading: duration(1, 366 * DAY_MS),
    default: { dev: 1_000, start: null },
    shown: { dev: "1s", start: "none" },
    sentence: "Fixed delay before a retry, instead of the backoff table (15s, 30s, 1m, 2m, 5m … 2h).",
  }),
  jobRate: setting({
    reading: integer(1, 10_000),
    default: 100,
    sentence: "Number of items per second that a job processes, unless it has its own rate.",
  }),
  drainDelay: setting({
    reading: duration(0, 600_000),
    default: 0,
    shown: "0s",
    sentence: "How long the service continues to accept requests after SIGTERM, while /ready answers 503, so that load balancers notice.",
  }),
  drainTimeout: setting({
    reading: duration(0, 600_000),
    default: 10_000,
    shown: "10s",
    sentence: "How long the service waits for requests in flight when it stops.",
  }),
  logLevel: setting<LogLevel>({
    reading: oneOf("fatal", "error", "warn", "info", "debug", "trace", "silent"),
    // A dev server prints activity as readable lines instead.
    default: { dev: "warn", start: "info" },
    sentence: "Minimum level of log lines.",
  }),
  log: setting<"lines" | "json">({
    reading: oneOf("lines", "json"),
    default: { dev: "lines", start: "json" },
    sentence: "Format of the log on standard error: readable lines, or one JSON object per line with all details.",
  }),
} as const satisfies Record<string, Setting<unknown>>;

export type LogLevel = "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
export type SettingName = keyof typeof SETTINGS;

/** The prefix of every variable. `OTHER_PREFIX` works too and is not documented: other programs use such names. */
export const VARIABLE_PREFIX = "INLET_";
const OTHER_PREFIX = "SERVICE_";

export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

export function variableOf(name: string): string {
  return `${VARIABLE_PREFIX}${flagOf(name).slice(2).replaceAll("-", "_").toUpperCase()}`;
}

/** The variable that is set, and its value; null if neither is. An empty one counts as unset. */
export function variableValue(
  variable: string,
  variables: Readonly<Record<string, string | undefined>>,
): { variable: string; value: string } | null {
  for (const name of [variable, variable.replace(VARIABLE_PREFIX, OTHER_PREFIX)]) {
    const value = variables[name];
    if (value && !isServiceLink(name, value)) return { variable: name, value };
  }
  return null;
}

/** Kubernetes sets INLET_PORT=tcp://10.0.0.1:8288, INLET_SERVICE_HOST and more for a Service that is called inlet. */
export function isServiceLink(name: string, value: string): boolean {
  return /^(?:tcp|udp|sctp):\/\/\S+:\d+$/.test(value) || /_SERVICE_(?:HOST|PORT\w*)$|_PORT_\d+_(?:TCP|UDP|SCTP)\w*$/.test(name);
}

export function defaultOf<Value>({ default: value }: Setting<Value>, mode: Mode): Value {
  const byMode = typeof value === "object" && value !== null && !Array.isArray(value);
  return byMode ? (value as Record<Mode, Value>)[mode] : (value as Value);
}

/** The default as shown to users. */
export function shownDefault(setting: Setting<unknown>, mode: Mode): string {
  const { shown } = setting;
  if (shown !== undefined) return typeof shown === "string" ? shown : shown[mode];
  const value = defaultOf(setting, mode);
  return value === null || (Array.isArray(value) && value.length === 0) ? "none" : String(value);
}

function setting<Value>(row: Setting<Value>): Setting<Value> {
  return row;
}
