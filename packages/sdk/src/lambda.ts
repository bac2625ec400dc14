/** Serves functions on AWS Lambda behind a function URL or an API Gateway: `export const handler = serve({ client, functions })`. */

import { type AppRequest, BODY_BYTES_MAX } from "./serving/app-request.ts";
import { handleRequest } from "./serving/handle-request.ts";
import { createServedApp, type ServeOptions } from "./serving/served-app.ts";

export type { ServeOptions } from "./serving/served-app.ts";

/** The parts of events that are used, in version 1.0 (REST APIs) and 2.0 (HTTP APIs and function URLs) of their format. */
export interface LambdaEvent {
  rawPath?: string;
  rawQueryString?: string;
  path?: string;
  httpMethod?: string;
  multiValueQueryStringParameters?: Record<string, string[] | undefined> | null;
  headers?: Record<string, string | undefined> | null;
  body?: string | null;
  isBase64Encoded?: boolean;
  requestContext?: { domainName?: string; stage?: string; path?: string; http?: { method: string } };
}

export interface LambdaResponse {
  statusCode: number;
  headers: Record<string, string>;
  body: string;
}

const encoder = new TextEncoder();

export function serve(options: ServeOptions): (event: LambdaEvent) => Promise<LambdaResponse> {
  const app = createServedApp(options, "aws-lambda");
  return async (event) => {
    const { status, headers, body } = await handleRequest(app, fromLambda(event));
    return { statusCode: status, headers, body };
  };
}

function fromLambda(event: LambdaEvent): AppRequest {
  // API Gateway keeps the names as sent in version 1.0.
  const headers = new Map(Object.entries(event.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value]));
  const host = headers.get("x-forwarded-host") ?? headers.get("host") ?? event.requestContext?.domainName;
  return {
    method: event.requestContext?.http?.method ?? event.httpMethod ?? "GET",
    url: `${pathOf(event)}${queryOf(event)}`,
    origin: () => (host ? `${headers.get("x-forwarded-proto") ?? "https"}://${host}` : undefined),
    header: (name) => headers.get(name),
    body: () => bodyOf(event),
  };
}

/** As the client sent it: with the stage of a REST API. */
function pathOf({ rawPath, path, requestContext }: LambdaEvent): string {
  return rawPath ?? requestContext?.path ?? path ?? "/";
}

function queryOf({ rawQueryString, multiValueQueryStringParameters }: LambdaEvent): string {
  const pairs = Object.entries(multiValueQueryStringParameters ?? {}).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const query = rawQueryString ?? new URLSearchParams(pairs).toString();
  return query && `?${query}`;
}

function bodyOf({ body, isBase64Encoded }: LambdaEvent): Uint8Array | "too-large" {
  const text = body ?? "";
  if (text.length > BODY_BYTES_MAX * 2) return "too-large";
  return isBase64Encoded ? Uint8Array.from(atob(text), (character) => character.charCodeAt(0)) : encoder.encode(text);
}
