/** A whole service inside the test's process: real store, real sockets, a clock the test may hold. Cleans up after the test. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Logger, pino } from "pino";
import { readConfig } from "../../src/config/config.ts";
import type { Mode } from "../../src/config/settings.ts";
import type { TelemetrySettings } from "../../src/observe/telemetry/telemetry-settings.ts";
import { type Service, startService } from "../../src/service.ts";
import { currentStore } from "./current-store.ts";
import { onEnd } from "./on-end.ts";
import { migratedDatabase } from "./postgres.ts";
import { FEW_DATABASE_CONNECTIONS, PATIENT_DATABASE_TIMEOUT, PATIENT_TRANSFORM_TIMEOUT } from "./process.ts";

export const EVENT_KEY = "test-event-key";
export const API_KEY = "test-api-key";
export const SIGNING_KEY = `signkey-test-${"0a".repeat(32)}`;

export interface TestServiceOptions {
  mode?: Mode;
  flags?: string[];
  now?: () => number;
  /** Absent: any that is free. */
  port?: number;
  host?: string;
  dataDir?: string;
  /** A database that several services share. */
  databaseUrl?: string;
  /** As many connections to PostgreSQL as users have without a setting, for tests of the connections themselves. */
  hasDefaultConnections?: boolean;
  /** What is exported by OTLP. */
  telemetry?: TelemetrySettings;
  log?: Logger;
  /** Gets the lines that a dev server prints. */
  showLine?: (line: string) => void;
  /** The AWS_ variables. */
  storageVariables?: Record<string, string>;
  /** Of live streams. */
  heartbeatMs?: number;
  /** Of sweepers. */
  sweepEveryMs?: number;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  body: any;
}

export interface TestService extends Service, ServiceClient {
  dataDir: string;
  databaseUrl?: string;
}

/** A service as its clients see it. */
export interface ServiceClient {
  url: string;
  /** POST /e/<key>. A body that is not text is sent as JSON. */
  send(body: unknown, options?: { key?: string; headers?: Record<string, string> }): Promise<Answer>;
  /** A call of the REST API, with the API key unless headers say otherwise. */
  rest(method: string, path: string, options?: { body?: unknown; headers?: Record<string, string> }): Promise<Answer>;
}

export async function startTestService(t: TestContext, options: TestServiceOptions = {}): Promise<TestService> {
  const dataDir = options.dataDir ?? temporaryFolder(t);
  const { mode = "start", flags = [], databaseUrl = await databaseOfTest(t, dataDir) } = options;
  const argv = [
    "--port",
    String(options.port ?? 0),
    "--host",
    options.host ?? "127.0.0.1",
    "--data-dir",
    dataDir,
    "--event-key",
    EVENT_KEY,
    "--api-key",
    API_KEY,
    "--signing-key",
    SIGNING_KEY,
    "--discover",
    "off",
    ...(databaseUrl === undefined ? [] : ["--database-url", databaseUrl]),
    ...flags,
  ];
  const variables = {
    INLET_DATABASE_TIMEOUT: PATIENT_DATABASE_TIMEOUT,
    INLET_TRANSFORM_TIMEOUT: PATIENT_TRANSFORM_TIMEOUT,
    ...(!options.hasDefaultConnections && { INLET_DATABASE_CONNECTIONS: FEW_DATABASE_CONNECTIONS }),
  };
  const service = await startService(readConfig(mode, argv, variables), {
    log: options.log ?? pino({ level: "silent" }),
    telemetry: options.telemetry ?? null,
    ...(options.now && { now: options.now }),
    ...(options.showLine && { showLine: options.showLine }),
    ...(options.storageVariables && { storageVariables: options.storageVariables }),
    ...(options.heartbeatMs !== undefined && { heartbeatMs: options.heartbeatMs }),
    ...(options.sweepEveryMs !== undefined && { sweepEveryMs: options.sweepEveryMs }),
  });
  onEnd(t, () => service.stop());
  return {
    ...service,
    dataDir,
    ...(databaseUrl !== undefined && { databaseUrl }),
    ...clientOf(service.url),
  };
}

export function clientOf(url: string): ServiceClient {
  return {
    url,
    send: (body, { key = EVENT_KEY, headers = {} } = {}) =>
      call(`${url}/e/${encodeURIComponent(key)}`, { method: "POST", headers, body: asBody(body) }),
    rest: (method, path, { body, headers = {} } = {}) =>
      call(`${url}/v1${path}`, {
        method,
        headers: {
          authorization: `Bearer ${API_KEY}`,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { body: asBody(body) }),
      }),
  };
}

const databases = new Map<string, string>();

/** Undefined on the embedded store. On PostgreSQL, a service that is started again on the same folder gets the same database. */
export async function databaseOfTest(t: TestContext, dataDir: string): Promise<string | undefined> {
  if (currentStore() === "sqlite") return undefined;
  const url = databases.get(dataDir) ?? (await migratedDatabase(t));
  databases.set(dataDir, url);
  return url;
}

export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "inlet-test-"));
  onEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function call(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: parsed(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function asBody(body: unknown): NonNullable<RequestInit["body"]> {
  return typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream
    ? (body as NonNullable<RequestInit["body"]>)
    : JSON.stringify(body);
}
