/** Node's requests and responses, and those of frameworks built on them. Described structurally: needs no types of Node or a framework. */

import { type AppBody, type AppRequest, type AppResponse, BODY_BYTES_MAX } from "./app-request.ts";

export interface NodeRequest {
  method?: string | undefined;
  url?: string | undefined;
  /** Express: the URL before a router removed its own path. */
  originalUrl?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  /** The result of a body parser. */
  body?: unknown;
  /** The bytes, if a framework keeps them next to the parsed body. */
  rawBody?: unknown;
  /** Whether the whole body has been read, by a body parser for example. */
  readableEnded?: boolean | undefined;
  destroyed?: boolean | undefined;
  /** Whether the whole request has been received. */
  complete?: boolean | undefined;
  on(event: "data", listener: (chunk: Uint8Array) => void): unknown;
  on(event: "end" | "close", listener: () => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  socket?: object | undefined;
}

export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string | number>): unknown;
  end(body: string): unknown;
}

const encoder = new TextEncoder();

export function fromNode(request: NodeRequest): AppRequest {
  return {
    method: request.method ?? "GET",
    url: request.originalUrl ?? request.url ?? "/",
    origin: () => originOf(request),
    header: (name) => first(request.headers[name]),
    body: () => bodyOf(request),
  };
}

export function toNode(response: NodeResponse, { status, headers, body }: AppResponse): void {
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function bodyOf(request: NodeRequest): AppBody | Promise<AppBody> {
  if (request.rawBody instanceof Uint8Array) return request.rawBody;
  const { body } = request;
  if (body === undefined || isSkipped(request)) return readStream(request);
  if (body instanceof Uint8Array) return body;
  if (typeof body === "string") return encoder.encode(body);
  return { parsed: body };
}

/** The body parsers of Express 4 give a request that is not theirs, and that they did not read, an empty object. */
function isSkipped({ body, readableEnded, destroyed }: NodeRequest): boolean {
  const isEmpty = typeof body === "object" && body !== null && Object.keys(body).length === 0 && !ArrayBuffer.isView(body);
  return isEmpty && readableEnded === false && destroyed !== true;
}

/** A body that is too large is not read; the connection ends with the response. */
function readStream(request: NodeRequest): Promise<AppBody> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    request.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      if (size > BODY_BYTES_MAX) resolve("too-large");
      else chunks.push(chunk);
    });
    request.on("end", () => resolve(joined(chunks, size)));
    request.on("error", reject);
    // Emitted after every request; only meaningful before its end.
    request.on("close", () => request.complete === false && reject(new Error("The request was broken off")));
  });
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  if (chunks.length === 1) return chunks[0] as Uint8Array;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** As reported by a proxy, otherwise that of the connection. */
function originOf({ headers, socket }: NodeRequest): string | undefined {
  const host = first(headers["x-forwarded-host"]) ?? first(headers.host) ?? first(headers[":authority"]);
  const scheme = first(headers["x-forwarded-proto"])?.split(",")[0]?.trim() ?? (socket && "encrypted" in socket ? "https" : "http");
  const origin = `${scheme}://${host}`;
  return host && URL.canParse(origin) ? origin : undefined;
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
