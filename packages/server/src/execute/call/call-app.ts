/** Requests to apps over connections that are kept. An app that hangs, is gone or answers without end fails its own calls only. */

import type { Agent, Dispatcher } from "undici";
import { type AppAddress, appAddress } from "./app-address.ts";
import { ANSWER_BYTES_MAX, NoAnswer, tooLarge, tooLate, unreachable } from "./no-answer.ts";
import { PlainCalls } from "./plain-calls.ts";
import type { AppAnswer } from "./read-answer.ts";

export interface CallAppOptions {
  /** How long an app may take to answer. */
  timeoutMs: number;
  /** Connections to one app. */
  connectionsMax: number;
}

export interface AppRequest {
  method: "POST" | "PUT";
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs?: number;
  /** Ends the call: nobody waits for the answer any more. */
  signal?: AbortSignal;
}

const REDIRECTS_MAX = 3;
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;
/** Addresses to which connections for plain calls are kept. */
const PLAIN_MAX = 100;
const PLAIN_VALUE = /^[\t\x20-\x7e]*$/;

export class AppCaller {
  readonly #timeoutMs: number;
  readonly #connectionsMax: number;
  #agent: Promise<Agent> | null = null;
  /** By origin, for apps that are known to answer with a length. */
  readonly #plain = new Map<string, PlainCalls>();

  constructor({ timeoutMs, connectionsMax }: CallAppOptions) {
    this.#timeoutMs = timeoutMs;
    this.#connectionsMax = connectionsMax;
  }

  /** Throws NoAnswer. */
  async call(request: AppRequest): Promise<AppAnswer> {
    try {
      return withoutMark(await this.#follow(request, request.url, REDIRECTS_MAX));
    } catch (error) {
      if (error instanceof NoAnswer) throw error;
      throw withReason(error, request.timeoutMs ?? this.#timeoutMs);
    }
  }

  /** Calls under way are ended: their steps are taken again after the next start. */
  async stop(): Promise<void> {
    for (const calls of this.#plain.values()) calls.stop();
    await (await this.#agent)?.destroy();
  }

  /** Loaded with the first call: a service that calls no app starts 0.1 s sooner and holds 25 MB less without it. */
  async #connect(): Promise<Agent> {
    const { Agent } = await import("undici");
    return new Agent({
      connections: this.#connectionsMax,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
      connect: { timeout: CONNECT_TIMEOUT_MS },
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
  }

  async #follow(request: AppRequest, url: string, redirectsLeft: number): Promise<AppAnswer> {
    const address = appAddress(url);
    if (!address) throw unreachable(`${url} is no address`);
    const received = (await this.#askPlainly(request, address)) ?? (await this.#ask(request, address));
    const { location } = received.headers;
    if (![307, 308].includes(received.status) || typeof location !== "string" || redirectsLeft === 0) return received;
    return this.#follow(request, new URL(location, url).href, redirectsLeft - 1);
  }

  async #ask(request: AppRequest, address: AppAddress): Promise<AppAnswer> {
    const { origin, path } = address;
    const { method, headers, body, timeoutMs = this.#timeoutMs } = request;
    this.#agent ??= this.#connect();
    const agent = await this.#agent;
    const received = await new Promise<AppAnswer>((resolve, reject) => {
      const reception = new Reception({ resolve, reject }, timeoutMs);
      agent.dispatch({ origin, path, method, headers, body, headersTimeout: timeoutMs, bodyTimeout: timeoutMs }, reception);
    });
    if (received.headers["content-length"] !== undefined) this.#noteAnswered(address);
    return received;
  }

  /** Null when it cannot be asked so. */
  #askPlainly({ method, headers, body, timeoutMs }: AppRequest, { origin, host, path }: AppAddress): Promise<AppAnswer> | null {
    const calls = this.#plain.get(origin);
    if (!calls?.isPlain || method !== "POST" || timeoutMs !== undefined) return null;
    let text = `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\n`;
    for (const [name, value] of Object.entries(headers)) {
      if (!PLAIN_VALUE.test(value)) return null;
      text += `${name}: ${value}\r\n`;
    }
    text += `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    return calls.call(text);
  }

  /** An app whose answers have a length is asked plainly from now on. */
  #noteAnswered({ origin, plain }: AppAddress): void {
    if (!plain || this.#plain.has(origin)) return;
    if (this.#plain.size >= PLAIN_MAX) for (const [other, calls] of this.#plain) if (calls.isUnused) this.#plain.delete(other);
    if (this.#plain.size >= PLAIN_MAX) return;
    const times = { timeoutMs: this.#timeoutMs, connectTimeoutMs: CONNECT_TIMEOUT_MS, keepAliveMs: KEEP_ALIVE_MS };
    this.#plain.set(origin, new PlainCalls({ ...times, connectionsMax: this.#connectionsMax }, plain));
  }
}

/**
 * What comes back for one request. Undici can make a stream of it, but that costs a quarter of the call, and streams refer to each other
 * in a way that keeps what was answered long ago from V8's quick collections.
 */
class Reception implements Dispatcher.DispatchHandler {
  readonly #told: { resolve(answer: AppAnswer): void; reject(error: unknown): void };
  readonly #timeoutMs: number;
  #status = 0;
  #headers: AppAnswer["headers"] = {};
  #chunks: Buffer[] = [];
  #bytes = 0;
  #late: NodeJS.Timeout | null = null;

  constructor(told: { resolve(answer: AppAnswer): void; reject(error: unknown): void }, timeoutMs: number) {
    this.#told = told;
    this.#timeoutMs = timeoutMs;
  }

  onRequestStart(): void {}

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: AppAnswer["headers"]): void {
    // More is to come.
    if (status < 200) return;
    this.#status = status;
    this.#headers = headers;
    // An answer whose size is not known may never end, though something comes all the time: that is late as well.
    if (headers["content-length"] === undefined) this.#late = setTimeout(() => controller.abort(tooLate(this.#timeoutMs)), this.#timeoutMs);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes <= ANSWER_BYTES_MAX) this.#chunks.push(chunk);
    else controller.abort(tooLarge());
  }

  onResponseEnd(): void {
    this.#end();
    const [only] = this.#chunks;
    const body = this.#chunks.length === 1 && only ? only.toString() : Buffer.concat(this.#chunks).toString();
    this.#told.resolve({ status: this.#status, headers: this.#headers, body });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end();
    this.#told.reject(error);
  }

  #end(): void {
    if (this.#late) clearTimeout(this.#late);
  }
}

/** Some programs begin what they write in UTF-8 by saying so. */
function withoutMark(answer: AppAnswer): AppAnswer {
  return answer.body.charCodeAt(0) === 0xfeff ? { ...answer, body: answer.body.slice(1) } : answer;
}

function withReason(error: unknown, timeoutMs: number): NoAnswer {
  const { code, message } = error as Error & { code?: string };
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") return tooLate(timeoutMs);
  if (code === "ECONNREFUSED") return unreachable("nothing listens at its address");
  if (code === "UND_ERR_CONNECT_TIMEOUT") return unreachable("connecting took too long");
  return unreachable(message || code || "the connection failed", error);
}
