/** A request and an answer without a framework: adapters turn theirs into these. */

import { SDK_NAME } from "../version.ts";
import { ASK_AFTER_LAST, HEADER } from "../wire/headers.ts";

/** More than the service ever sends at once: beyond 4 MiB it has the SDK fetch the rest. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;

/** Bytes as they came, or what a framework has made of them. */
export type AppBody = Uint8Array | { parsed: unknown } | "too-large";

export interface AppRequest {
  method: string;
  /** Path and query, or a whole URL. */
  url: string;
  /** Scheme and host as the client named them, where known. */
  origin: () => string | undefined;
  header: (name: string) => string | null | undefined;
  body: () => AppBody | Promise<AppBody>;
}

export interface AppAnswer {
  status: number;
  headers: Record<string, string>;
  /** JSON text. */
  body: string;
}

export function jsonAnswer(status: number, body: string, headers?: Record<string, string>): AppAnswer {
  return {
    status,
    headers: { "content-type": "application/json", [HEADER.sdk]: SDK_NAME, [HEADER.requestVersion]: String(ASK_AFTER_LAST), ...headers },
    body,
  };
}

/** An error of the endpoint itself, in the form all of Inlet uses. */
export function errorAnswer(status: number, code: string, error: string, headers?: Record<string, string>): AppAnswer {
  return jsonAnswer(status, JSON.stringify({ error, code, status }), headers);
}

/** Query parameters of a path or URL. */
export function queryOf(url: string): URLSearchParams {
  const at = url.indexOf("?");
  return new URLSearchParams(at < 0 ? "" : url.slice(at + 1));
}
