/**
 * What a route says about itself beside its handler: the words and shapes that make the OpenAPI document, and what a call is
 * about, which decides who may make it (rest-access.ts).
 */

import type { ErrorCode } from "@inlet/protocol";

declare module "fastify" {
  interface FastifySchema {
    /** One line for the document. Every route has one. */
    summary?: string;
    description?: string;
    tags?: readonly string[];
    /** Refusals particular to this route; those every route shares are added to the document by themselves. */
    errors?: readonly ErrorCode[];
  }

  interface FastifyContextConfig {
    /**
     * `environment` (unless said otherwise): what x-service-env names. `item`: what the path names, in whichever environment;
     * the handler checks with `checkMayUse`. `installation`: all of it. `self`: whoever calls, in whichever role. `anyone`: needs no key.
     */
    about?: "environment" | "item" | "installation" | "self" | "anyone";
    /** The role ingest-admin may call it as well. */
    ingest?: boolean;
    /** The role operator may call it as well: it repairs what went wrong. */
    repair?: boolean;
    /** The role metrics may call it as well. */
    metrics?: boolean;
    /** The signing key of an app may call it as well, whatever roles may. */
    signingKey?: boolean;
    /** Needs a key without environment limits; so does what is about the installation, unless said otherwise. */
    unlimited?: boolean;
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

/** An object of an answer: every property is always there, save the optional ones. A `title` makes it a named schema of the document. */
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

/** `{"data": […], "page": {"next": …}}` */
export function pageOf(item: Schema) {
  const next = { ...TEXT_OR_NULL, description: "The `cursor` of the next page, or null at the end." };
  return shape({ data: listOf(item), page: shape({ next }) });
}
