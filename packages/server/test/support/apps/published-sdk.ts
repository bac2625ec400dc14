/**
 * One set of words for the published Inngest SDKs: what a test says once is said to each in its own way (sdk-v3.ts, sdk-v4.ts).
 * The two cannot be loaded into one process, where they would share, and spoil, one global.
 */

import type { RequestListener } from "node:http";
import type { FastifyInstance } from "fastify";

export interface SentEvent {
  id?: string;
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: events of every shape
  data: any;
  ts?: number;
  v?: string;
  meta?: { sessions?: Record<string, string> | null };
}

export interface Step {
  run<Result>(id: string, work: () => Result | Promise<Result>): Promise<Result>;
  sleep(id: string, time: string | number): Promise<void>;
  sleepUntil(id: string, time: Date | string): Promise<void>;
  sendEvent(id: string, events: SentEvent | SentEvent[]): Promise<{ ids: string[] }>;
  waitForEvent(id: string, options: { event: string; timeout: string; if?: string; match?: string }): Promise<SentEvent | null>;
  waitForSignal(id: string, options: { signal: string; timeout: string; onConflict: "fail" | "replace" }): Promise<unknown>;
  fetch(url: string, init?: RequestInit): Promise<Response>;
  ai: {
    models: { openai(options: { model: string; apiKey: string; baseUrl: string }): unknown };
    // biome-ignore lint/suspicious/noExplicitAny: providers answer in every shape
    infer(id: string, options: { model: unknown; body: object }): Promise<any>;
    wrap<Args extends unknown[], Result>(id: string, work: (...args: Args) => Result, ...args: Args): Promise<Awaited<Result>>;
  };
  sendSignal(id: string, options: { signal: string; data?: unknown }): Promise<unknown>;
  invoke(id: string, options: { function: unknown; data?: object; v?: string; timeout?: string }): Promise<unknown>;
}

export interface Context {
  event: SentEvent;
  events: SentEvent[];
  step: Step;
  attempt: number;
  maxAttempts?: number;
  runId: string;
  /** Of v4 only. */
  group?: { parallel?<Result>(work: () => Promise<Result>): Promise<Result> };
  error?: Error;
  /** Of v4 only. */
  defer?(id: string, options: { function: unknown; data: object }): { abort(): void };
  parents?: { fnSlug: string; runId: string }[];
}

export type Handler = (context: Context) => unknown;
/** Defines a function that is started by an event of its own name. */
export type Define = (id: string, handler: Handler, options?: Record<string, unknown>) => unknown;
export type Trigger = { event: string; if?: string } | { cron: string };

export interface ClientOptions {
  id: string;
  baseUrl: string;
  eventKey: string;
  isDev: boolean;
  signingKey?: string;
  signingKeyFallback?: string;
  env?: string;
  checkpointing?: unknown;
}

export interface Client {
  send(events: SentEvent | SentEvent[]): Promise<{ ids: string[] }>;
  createFunction(options: Record<string, unknown> & { id: string }, triggers: Trigger[], handler: Handler): unknown;
}

export interface PublishedSdk {
  name: "v3" | "v4";
  NonRetriableError: new (message: string) => Error;
  RetryAfterError: new (message: string, after: number | string | Date) => Error;
  client(options: ClientOptions): Client;
  /** Of v4 only. */
  createDefer?(client: Client, options: { id: string }, handler: Handler): unknown;
  /** A listener of Node's http. */
  listener(client: Client, functions: unknown[], signingKey?: string, signingKeyFallback?: string): RequestListener;
  /** The same, which streams its responses. */
  streaming(client: Client, functions: unknown[], signingKey?: string): RequestListener;
  /** Serves from fastify, which parses bodies before the SDK sees them. */
  onFastify(app: FastifyInstance, client: Client, functions: unknown[], signingKey?: string): void;
}

function silent(): void {}
export const SILENT_LOGGER = { info: silent, warn: silent, error: silent, debug: silent };

/** The SDKs' own types would bring in those of browsers, and with them other rules for the rest of our code. */
// biome-ignore lint/suspicious/noExplicitAny: that is the point
export function loadUntyped(name: string): Promise<any> {
  return import(name);
}
