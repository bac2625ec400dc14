/** Requests to apps over pooled connections. An app that hangs, disappears or responds without end fails only its own calls. */

import { isIP } from "node:net";
import type { Agent } from "undici";
import { type AppAddress, appAddress } from "./app-address.ts";
import { AddressRefused, type AppAddresses } from "./app-addresses.ts";
import { NoResponse, type Peer, tooLate, unreachable } from "./no-response.ts";
import type { AppResponse } from "./read-response.ts";
import { ResponseCollector } from "./response-collector.ts";

export interface CallAppOptions {
  /** How long an app may take to respond. */
  timeoutMs: number;
  /** Connections to one app. */
  connectionsMax: number;
  addresses: AppAddresses;
}

/** A request to any address that the rules allow. */
export interface WebRequest {
  peer: Exclude<Peer, "app">;
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string | null;
  signal?: AbortSignal;
  /** Asked right before the request is sent, which may be long after the call was made: false gives the call up. */
  maySend?: () => boolean;
  /** How long it may take; default: as long as an app may. */
  timeoutMs?: number;
  /** The largest response; default: that of an app. */
  bytesMax?: number;
  /** The body may hold credentials: it is sent to no other origin. */
  isBodySecret?: boolean;
  /** Redirects are responses like any other. */
  returnsRedirects?: boolean;
}

export interface AppRequest {
  method: "POST" | "PUT";
  url: string;
  headers: Record<string, string>;
  body: string;
  timeoutMs?: number;
  /** Aborts the call: its response is no longer needed. */
  signal?: AbortSignal;
  /** Asked right before the request is sent, which may be long after the call was made: false gives the call up. */
  maySend?: () => boolean;
}

const REDIRECTS_MAX = 3;
const WEB_REDIRECTS_MAX = 5;
const WEB_REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Any other header may hold a credential, whatever its name. */
const FORWARDED_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-language",
  "cache-control",
  "content-language",
  "content-type",
  "range",
  "user-agent",
]);
const CONNECT_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 10_000;

export class AppCaller {
  readonly #timeoutMs: number;
  readonly #connectionsMax: number;
  readonly #addresses: AppAddresses;
  #agent: Promise<Agent> | null = null;

  constructor({ timeoutMs, connectionsMax, addresses }: CallAppOptions) {
    this.#addresses = addresses;
    this.#timeoutMs = timeoutMs;
    this.#connectionsMax = connectionsMax;
  }

  /** Throws NoResponse. */
  async call(request: AppRequest): Promise<AppResponse> {
    try {
      return withoutByteOrderMark(await this.#follow(request, request.url, REDIRECTS_MAX));
    } catch (error) {
      if (error instanceof NoResponse) throw error;
      throw withReason("app", error, request.timeoutMs ?? this.#timeoutMs);
    }
  }

  /** Like `fetch`: redirects are followed, unless they are to be returned; to another origin only with headers that hold no credentials. Throws NoResponse. */
  async fetch(request: WebRequest): Promise<AppResponse & { url: string }> {
    try {
      return await this.#browse(request, WEB_REDIRECTS_MAX);
    } catch (error) {
      throw error instanceof NoResponse ? error : withReason(request.peer, error, request.timeoutMs ?? this.#timeoutMs);
    }
  }

  async #browse(request: WebRequest, redirectsLeft: number): Promise<AppResponse & { url: string }> {
    const { peer, url } = request;
    const address = appAddress(url);
    if (!address || !/^https?:/.test(address.origin)) throw unreachable(peer, "its address is not an http(s) URL");
    const received = await this.#ask(request, address);
    if (request.returnsRedirects) return { ...received, url };
    const { location } = received.headers;
    if (!WEB_REDIRECTS.has(received.status) || typeof location !== "string" || !URL.canParse(location, url)) return { ...received, url };
    if (redirectsLeft === 0) throw unreachable(peer, `it redirected more than ${WEB_REDIRECTS_MAX} times`);
    const next = redirected(request, new URL(location, url), received.status);
    const isLeaving = new URL(next.url).origin !== new URL(url).origin;
    if (request.isBodySecret && isLeaving && next.body !== null)
      throw unreachable(peer, "it redirected a request with a body to another origin");
    return this.#browse(next, redirectsLeft - 1);
  }

  /** Aborts calls in progress: their steps are repeated after the next start. */
  async stop(): Promise<void> {
    await (await this.#agent)?.destroy();
  }

  /** Undici is loaded with the first call: a service that calls no app does not need it in memory. */
  async #connect(): Promise<Agent> {
    const { Agent, buildConnector } = await import("undici");
    const addresses = this.#addresses;
    const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, lookup: addresses.lookup });
    return new Agent({
      connections: this.#connectionsMax,
      headersTimeout: this.#timeoutMs,
      bodyTimeout: this.#timeoutMs,
      connect(options, done) {
        // Names are checked once they have been resolved.
        const address = options.hostname.replace(/^\[|\]$/g, "");
        const refused = isIP(address) === 0 ? null : addresses.refusal(address);
        if (refused) return done(refused, null);
        connect(options, (...made) => {
          const [error, socket] = made;
          const refusal = error ? null : addresses.refusal(socket.remoteAddress ?? "");
          if (!refusal) return done(...made);
          socket?.destroy();
          done(refusal, null);
        });
      },
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
  }

  async #follow(request: AppRequest, url: string, redirectsLeft: number): Promise<AppResponse> {
    const address = appAddress(url);
    if (!address) throw unreachable("app", `${url} is not a URL`);
    const received = await this.#ask(request, address);
    const { location } = received.headers;
    if (![307, 308].includes(received.status) || typeof location !== "string" || redirectsLeft === 0) return received;
    return this.#follow(request, new URL(location, url).href, redirectsLeft - 1);
  }

  async #ask(request: AppRequest | WebRequest, { origin, path }: AppAddress): Promise<AppResponse> {
    const { method, headers, body, signal, maySend, timeoutMs = this.#timeoutMs } = request;
    const { peer, bytesMax } = "peer" in request ? request : { peer: "app" as const, bytesMax: undefined };
    this.#agent ??= this.#connect();
    const agent = await this.#agent;
    return new Promise((resolve, reject) => {
      const options = { origin, path, method, headers, body, headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
      agent.dispatch(options, new ResponseCollector({ resolve, reject }, { peer, timeoutMs, signal, maySend, bytesMax }));
    });
  }
}

function redirected({ method, url, headers, body, ...rest }: WebRequest, target: URL, status: number): WebRequest {
  const isSameOrigin = target.origin === new URL(url).origin;
  const becomesGet = status === 303 || (status < 303 && method === "POST");
  const isKept = (name: string) => (isSameOrigin || FORWARDED_HEADERS.has(name)) && !(becomesGet && name.startsWith("content-"));
  const kept = Object.entries(headers).filter(([name]) => isKept(name.toLowerCase()));
  const next = becomesGet ? { method: "GET", body: null } : { method, body };
  return { ...rest, ...next, url: target.href, headers: Object.fromEntries(kept) };
}

/** Some programs write a byte order mark. */
function withoutByteOrderMark(response: AppResponse): AppResponse {
  return response.body.charCodeAt(0) === 0xfeff ? { ...response, body: response.body.slice(1) } : response;
}

function withReason(peer: Peer, error: unknown, timeoutMs: number): NoResponse {
  const { code, message, hostname } = error as Error & { code?: string; hostname?: string };
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_BODY_TIMEOUT") return tooLate(peer, timeoutMs);
  if (error instanceof AddressRefused) return unreachable(peer, message, error);
  if (code === "ECONNREFUSED") return unreachable(peer, "nothing listens at its address");
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return unreachable(peer, `the host name ${hostname} cannot be resolved`, error);
  if (code === "UND_ERR_CONNECT_TIMEOUT") return unreachable(peer, "connecting took too long");
  return unreachable(peer, message || code || "the connection failed", error);
}
