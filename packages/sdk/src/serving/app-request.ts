/** Framework-independent requests and responses: adapters convert theirs to these. */

import { SDK_NAME } from "../version.ts";
import { HEADER, REQUEST_VERSION } from "../wire/headers.ts";

/** More than the service ever sends at once: beyond 4 MiB, the SDK fetches events and steps. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** The bytes as received, or the value parsed by a framework. */
export type AppBody = Uint8Array | { parsed: unknown } | "too-large";

export interface AppRequest {
  method: string;
  /** Path and query, or a whole URL. */
  url: string;
  /** Scheme and host as named by the client, if known. */
  origin: () => string | undefined;
  header: (name: string) => string | null | undefined;
  body: () => AppBody | Promise<AppBody>;
}

export interface AppResponse {
  status: number;
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
}

export function jsonResponse(status: number, body: string, headers?: Record<string, string>): AppResponse {
  return {
    status,
    headers: { "content-type": "application/json", [HEADER.sdk]: SDK_NAME, [HEADER.requestVersion]: String(REQUEST_VERSION), ...headers },
    body,
  };
}

/** An error of the endpoint itself, in the common form of Inlet's errors. */
export function errorResponse(status: number, code: string, error: string, headers?: Record<string, string>): AppResponse {
  return jsonResponse(status, JSON.stringify({ error, code, status }), headers);
}

/** Query parameters of a path or URL. */
export function queryOf(url: string): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
}
