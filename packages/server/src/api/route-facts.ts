/**
 * The metadata of a route: descriptions and schemas for the OpenAPI document, and the scope of a request, which
 * decides who may make it (rest-access.ts).
 */

import { ENVIRONMENT_HEADER, type ErrorCode } from "@inlet/protocol";

declare module "fastify" {
  interface FastifySchema {
    /** One line for the document. Every route has one. */
    summary?: string;
    description?: string;
    tags?: readonly string[];
    /** Refusals specific to this route; common ones are added to the document automatically. */
    errors?: readonly ErrorCode[];
  }

  interface FastifyContextConfig {
    /**
     * The environments that a request reads or writes. Every route of the REST API declares it.
     * `environment`: that of x-service-env. `path`: that of the path. `item`: that of an object in the path or the body, in any environment;
     * the handler checks with `checkMayFind` or `checkMayUse`. `visible`: all that the caller may see; the handler
     * leaves out the others. `installation`: the whole installation. `self`: the caller, in any role. `anyone`: no key needed.
     */
    about?: "environment" | "path" | "item" | "visible" | "installation" | "self" | "anyone";
    /** Also allowed for the role ingest-admin. */
    ingest?: boolean;
    /** Also allowed for the role operator: it repairs failures. */
    repair?: boolean;
    /** Also allowed for the role metrics. */
    metrics?: boolean;
    /** The text of its body is kept, for values that have to stay as they were written: see `memberText`. */
    keepsBodyText?: boolean;
    /** Also allowed for the signing key of an app. */
    signingKey?: boolean;
    /** Writes only to an object that the path names, and finds it first: without an environment it finds none, as routes that read. */
    byId?: boolean;
    /** Requires a role that holds everywhere, as routes about the installation do. */
    unrestricted?: boolean;
  }
}

type Schema = Readonly<Record<string, unknown>>;

export const INSTANT = { type: "string", format: "date-time" } as const;
export const INSTANT_OR_NULL = { type: ["string", "null"], format: "date-time" } as const;
export const TEXT = { type: "string" } as const;
export const TEXT_OR_NULL = { type: ["string", "null"] } as const;
export const NUMBER = { type: "number" } as const;
export const INTEGER = { type: "integer" } as const;
export const BOOLEAN = { type: "boolean" } as const;
/** Any JSON value. */
export const JSON_VALUE = {} as const;

/** An object in a response: every property is always present, except for optional ones. A `title` makes it a named schema of the document. */
export function shape(properties: Readonly<Record<string, Schema>>, more: { optional?: readonly string[]; title?: string } = {}) {
  const { optional = [], title } = more;
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { ...(title !== undefined && { title }), type: "object", properties, required } as const;
}

export function listOf(items: Schema) {
  return { type: "array", items } as const;
}

/** `{"data": …}` */
export function dataOf(data: Schema) {
  return shape({ data });
}

/** `{"data": […], "page": {"next": …}}`, and what else the page says. */
export function pageOf(item: Schema, more: Readonly<Record<string, Schema>> = {}) {
  const next = { ...TEXT_OR_NULL, description: "The `cursor` of the next page, or null at the end." };
  return shape({ data: listOf(item), page: shape({ next, ...more }) });
}

/** The header of a route that is about more than one environment unless it names one. */
export function namedEnvironment(description: string) {
  return { type: "object", properties: { [ENVIRONMENT_HEADER]: { type: "string", description } } } as const;
}
