/**
 * Generates the OpenAPI document from the schemas of the routes themselves, so that it cannot differ from what is checked.
 * A schema with a `title` becomes a named one under `components`.
 *
 * Our own code instead of a plug-in: the routes already contain everything, and the document only has to be assembled.
 */

import { ENVIRONMENT_HEADER, ERRORS, type ErrorCode } from "@inlet/protocol";
import type { FastifyContextConfig, FastifyInstance, FastifySchema } from "fastify";
import { IDEMPOTENCY_HEADER } from "./access/idempotency.ts";
import { SESSION_COOKIE } from "./access/sessions.ts";

export interface DocumentedRoute {
  method: string;
  url: string;
  schema: FastifySchema;
  about: NonNullable<FastifyContextConfig["about"]>;
  idempotent: FastifyContextConfig["idempotent"];
}

type Json = Record<string, unknown>;
type Named = Map<string, unknown>;

const FAULT = {
  type: "object",
  required: ["field", "message"],
  properties: {
    index: { type: "integer", description: "The event's index in the request." },
    field: { type: "string" },
    message: { type: "string" },
    line: { type: "integer" },
    column: { type: "integer" },
    position: { type: "integer", description: "In an expression, counted from 1." },
  },
};

const QUOTA_FAULT = {
  type: "object",
  required: ["quota", "limit", "used", "resetsAt"],
  properties: {
    quota: { type: "string" },
    limit: { type: "integer" },
    used: { type: "integer", description: "Without the refused request." },
    resetsAt: { type: "string", format: "date-time" },
  },
};

const ERROR_SCHEMA = {
  title: "Error",
  type: "object",
  required: ["error", "code", "status", "docs"],
  properties: {
    error: { type: "string", description: "A sentence for people." },
    code: { type: "string", enum: Object.keys(ERRORS) },
    status: { type: "integer" },
    docs: { type: "string", description: "The path of the page that explains the code: `/docs/errors/<code>`." },
    details: {
      type: "array",
      description: "Every fault, at most 100, if single fields are invalid; every quota without room for the request.",
      items: { anyOf: [FAULT, QUOTA_FAULT] },
    },
  },
};

/** Adds every route that is registered after this call, in the order of their registration. */
export function rememberRoutes(app: FastifyInstance, routes: DocumentedRoute[]): void {
  app.addHook("onRoute", ({ method, url, schema = {}, config }) => {
    for (const one of [method].flat()) {
      // Fastify adds HEAD to every GET route.
      if (one === "HEAD") continue;
      routes.push({ method: one.toLowerCase(), url, schema, about: config?.about ?? "environment", idempotent: config?.idempotent });
    }
  });
}

export function openApiDocument(routes: readonly DocumentedRoute[], version: string): Json {
  const named: Named = new Map();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.url.replace(/:(\w+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: operation(route, named) };
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Inlet",
      version,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      description:
        'The REST API of Inlet. Responses are `{"data": …}`; lists are newest first and add `page.next`, the `cursor` of the next page. Unknown parameters and fields are refused, never ignored.',
    },
    servers: [{ url: "/" }],
    security: [{ apiKey: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key. Not needed for a dev server." },
        session: {
          type: "apiKey",
          in: "cookie",
          name: SESSION_COOKIE,
          description: "The cookie that `POST /v1/session` sets. Over HTTPS its name begins with `__Host-`.",
        },
      },
      schemas: Object.fromEntries([...named].sort(([a], [b]) => a.localeCompare(b))),
    },
  };
}

function operation(route: DocumentedRoute, named: Named): Json {
  const { summary, description, tags, body, response } = route.schema;
  return {
    operationId: operationId(route),
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    tags: tags ?? [route.url.split("/")[2] ?? ""],
    ...(route.about === "anyone" && { security: [] }),
    parameters: parametersOf(route),
    ...(body !== undefined && { requestBody: bodyOf(body as Json, named) }),
    responses: { ...answersOf((response ?? {}) as Record<string, Json>, named), ...refusalsOf(route, named) },
  };
}

/** `GET /v1/webhooks/:id/requests` is `getWebhooksByIdRequests`. */
function operationId({ method, url }: DocumentedRoute): string {
  const words = url.split("/").slice(2);
  const name = words.map((word) => (word.startsWith(":") ? `By${capital(word.slice(1))}` : word.split(/[-.]/).map(capital).join("")));
  return method + name.join("");
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function parametersOf({ url, schema, about, idempotent }: DocumentedRoute): Json[] {
  const inPath = propertiesOf(schema.params);
  const path = [...url.matchAll(/:(\w+)/g)].map(([, name = ""]) => parameter("path", name, inPath[name] ?? { type: "string" }, true));
  const { required = [] } = (schema.querystring ?? {}) as { required?: string[] };
  const query = Object.entries(propertiesOf(schema.querystring)).map(([name, one]) =>
    parameter("query", name, one, required.includes(name)),
  );
  const headers = Object.entries(propertiesOf(schema.headers)).map(([name, one]) => parameter("header", name, one, false));
  const environment = {
    type: "string",
    description: "Environment; default `production`, or `dev` on a dev server; without a role there, the only environment of the caller.",
  };
  return [
    ...path,
    ...query,
    ...headers,
    ...(about === "environment" ? [parameter("header", ENVIRONMENT_HEADER, environment, false)] : []),
    ...(idempotent ? [parameter("header", IDEMPOTENCY_HEADER, idempotencyKey(idempotent), false)] : []),
  ];
}

const REPEATED: Readonly<Record<NonNullable<FastifyContextConfig["idempotent"]>, string>> = {
  replayed: "returns the first response",
  "keys-once": "returns the first response without `keys`, which are shown once",
  secret: "is refused with the id of the created object, because a secret is shown once",
};

function idempotencyKey(idempotent: NonNullable<FastifyContextConfig["idempotent"]>): Json {
  const repeated = REPEATED[idempotent];
  return { type: "string", description: `A request repeated with the same key within 24 hours creates nothing and ${repeated}.` };
}

function propertiesOf(schema: unknown): Record<string, Json> {
  return (schema as { properties?: Record<string, Json> } | undefined)?.properties ?? {};
}

function parameter(location: string, name: string, { description, ...schema }: Json, required: boolean): Json {
  return { name, in: location, required, ...(description !== undefined && { description }), schema };
}

function bodyOf(schema: Json, named: Named): Json {
  const required = Array.isArray(schema.required) && schema.required.length > 0;
  return { required, content: { "application/json": { schema: hoisted(schema, named) } } };
}

/** A response is the schema of a JSON body, or has `content` if it is of another type. */
function answersOf(response: Record<string, Json>, named: Named): Json {
  const entries = Object.entries(response).map(([status, { description, ...schema }]) => {
    const content = schema.content ?? { "application/json": { schema: hoisted(schema, named) } };
    return [status, { description: description ?? (status === "201" ? "Created." : "Success."), content }];
  });
  return Object.fromEntries(entries);
}

function refusalsOf(route: DocumentedRoute, named: Named): Json {
  const byStatus = Map.groupBy(refusalCodes(route), (code) => ERRORS[code].status);
  const entries = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(
    entries.map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join("\n\n"),
        content: { "application/json": { schema: hoisted(ERROR_SCHEMA, named) } },
      },
    ]),
  );
}

function refusalCodes({ schema, about, idempotent }: DocumentedRoute): ErrorCode[] {
  const codes: ErrorCode[] = ["request_invalid", "internal_error", "store_unavailable"];
  if (schema.body !== undefined) codes.push("body_invalid", "body_too_large", "content_type_unsupported");
  if (about !== "anyone") codes.push("api_key_invalid", "session_missing", "too_many_attempts", "origin_forbidden");
  if (about !== "anyone" && about !== "self") codes.push("api_key_missing", "role_forbidden", "environment_forbidden");
  if (about === "environment") codes.push("environment_not_found");
  if (idempotent) codes.push("idempotency_key_reused", "idempotency_key_busy");
  if (idempotent === "secret") codes.push("idempotency_key_used");
  return [...new Set([...codes, ...(schema.errors ?? [])])];
}

/** The schema with every titled part replaced by a reference to it. */
function hoisted(schema: unknown, named: Named): unknown {
  if (Array.isArray(schema)) return schema.map((part) => hoisted(part, named));
  if (typeof schema !== "object" || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, hoisted(part, named)]));
  // A property may also be called "title"; only a string is a name.
  if (typeof parts.title !== "string") return parts;
  const { title, ...rest } = parts;
  const known = named.get(title as string);
  if (known && JSON.stringify(known) !== JSON.stringify(rest)) throw new Error(`two schemas of the REST API have the title ${title}`);
  named.set(title as string, rest);
  return { $ref: `#/components/schemas/${title}` };
}
