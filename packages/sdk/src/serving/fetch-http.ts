/** Requests and responses of the Fetch standard: Bun, Deno, edge runtimes, Next, Hono. */

import { type AppBody, type AppRequest, type AppResponse, BODY_BYTES_MAX } from "./app-request.ts";

export function fromFetch(request: Request, readBody: () => Promise<ArrayBuffer> = () => request.arrayBuffer()): AppRequest {
  return {
    method: request.method,
    url: request.url,
    origin: () => new URL(request.url).origin,
    header: (name) => request.headers.get(name),
    body: () => bodyOf(request, readBody),
  };
}

export function toFetch({ status, headers, body }: AppResponse): Response {
  return new Response(body, { status, headers });
}

async function bodyOf(request: Request, readBody: () => Promise<ArrayBuffer>): Promise<AppBody> {
  if (Number(request.headers.get("content-length")) > BODY_BYTES_MAX) return "too-large";
  return new Uint8Array(await readBody());
}
