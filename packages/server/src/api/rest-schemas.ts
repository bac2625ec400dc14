/**
 * How requests are validated: unknown fields and parameters are errors, never ignored. Body types are strict;
 * query parameters are text, so numbers are parsed from digits.
 */

import { isUtf8 } from "node:buffer";
import { createRequire } from "node:module";
import { DATA_DEPTH_MAX, isDeeperThan } from "@inlet/protocol";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { FastifyInstance } from "fastify";
import { keepBodyText } from "./body-text.ts";
import { invalid } from "./rest-errors.ts";

const require = createRequire(import.meta.url);

const OPTIONS = { allErrors: true, removeAdditional: false, useDefaults: true, allowUnionTypes: true };
const strict = compiler({ coerceTypes: false });
const fromText = compiler({ coerceTypes: true });

/** Deeper than any data that may be sent. What is deeper would overflow the stack of whoever reads it. */
export const BODY_DEPTH_MAX = DATA_DEPTH_MAX + 50;

export function registerRequestChecks(app: FastifyInstance): void {
  app.removeContentTypeParser("application/json");
  readJsonBodies(app, "application/json");
  // Response schemas describe and are tested. Serialising with them would drop fields they do not name, and much is already text.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setValidatorCompiler(({ schema, httpPart }) => {
    let validate: ValidateFunction | undefined;
    return (value: unknown) => {
      validate ??= (httpPart === "body" ? strict : fromText)(schema as object);
      const errors = validate(value) ? infinities(value) : validate.errors;
      return errors ? { error: errors as never } : { value };
    };
  });
  app.addHook("preValidation", async ({ params, query, body, routeOptions }) => {
    for (const [field, text] of Object.entries({ ...(query as object), ...(params as object) }))
      if (String(text).includes("\0")) throw invalid(field, "must not contain the character U+0000");
    const [unknown] = routeOptions.schema?.body === undefined ? fieldsOf(body) : [];
    if (unknown !== undefined) throw invalid(unknown, "is not a known parameter or field: check its spelling");
  });
}

/** Of a body that no schema describes. Many clients send an empty object where none is expected. */
function fieldsOf(body: unknown): string[] {
  if (body === undefined || body === null || body === "") return [];
  return typeof body === "object" ? Object.keys(body) : ["body"];
}

/**
 * Many routes have the same schema, such as that of no query at all, or of a page: it is compiled once. The package is loaded with the
 * first, so that no start waits for it.
 */
function compiler(options: { coerceTypes: boolean }): (schema: object) => ValidateFunction {
  const compiled = new Map<string, ValidateFunction>();
  let ajv: Ajv | undefined;
  return (schema) => {
    ajv ??= new (require("ajv") as typeof import("ajv")).Ajv({ ...OPTIONS, ...options });
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile(schema);
    compiled.set(text, validate);
    return validate;
  };
}

/** Bodies of this type are read as JSON. */
export function readJsonBodies(app: FastifyInstance, contentType: string): void {
  // A key such as __proto__ in a payload is ordinary data; it is never merged into an object of ours.
  const parseJson = app.getDefaultJsonParser("ignore", "ignore");
  app.addContentTypeParser(contentType, { parseAs: "buffer" }, (request, bytes, done) => {
    // Many clients always send the header, even without a body.
    if (bytes.length === 0) return done(null, undefined);
    if (!isUtf8(bytes as Buffer)) return done(unreadable("The body is not valid UTF-8."));
    const body = bytes.toString();
    parseJson(request, body, (error, value) => {
      if (request.routeOptions.config.keepsBodyText) keepBodyText(value, body);
      const isTooDeep = !error && isDeeperThan(value, BODY_DEPTH_MAX);
      done(isTooDeep ? unreadable(`The body is nested more than ${BODY_DEPTH_MAX} deep.`) : error, value);
    });
  });
}

function unreadable(message: string): Error {
  return Object.assign(new Error(message), { statusCode: 400 });
}

/** Texts such as 1e400 are taken for numbers, and infinite ones are not compared with a maximum. */
function infinities(values: unknown): ErrorObject[] | null {
  if (typeof values !== "object" || values === null) return null;
  const found = Object.entries(values).filter(([, value]) => value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY);
  if (found.length === 0) return null;
  return found.map(([field]) => ({ instancePath: `/${field}`, message: "is too large", keyword: "finite", schemaPath: "", params: {} }));
}

/** A closed object: every property that is not listed is an error. */
export function closed<Properties extends object>(properties: Properties, required: (keyof Properties & string)[] = []) {
  return { type: "object", additionalProperties: false, properties, required } as const;
}

export const PAGE_PARAMETERS = {
  limit: { type: "integer", minimum: 1, maximum: 100, default: 20, description: "Maximum number of items per page." },
  cursor: { type: "string", description: "`page.next` of the previous page." },
} as const;

export const ACCEPT_LIST = {
  description: "What is allowed, or null for everything.",
  anyOf: [
    { type: "null" },
    closed(
      {
        mode: { type: "string", enum: ["allow", "deny"] },
        list: { type: "array", maxItems: 1000, items: { type: "string", minLength: 1, maxLength: 256 } },
      },
      ["mode", "list"],
    ),
  ],
} as const;

export type QueryCheck = (values: Record<string, unknown>) => ErrorObject[] | null;

/**
 * Validates values as if they were a query: returns the faults, or null. Converts numbers to strings in place where strings are expected.
 * What is compiled is never released, so this is called once for a schema, not with every request. It is compiled when first used.
 */
export function compileQueryCheck(schema: object): QueryCheck {
  let validate: ValidateFunction | undefined;
  return (values) => {
    validate ??= fromText(schema);
    return validate(values) ? infinities(values) : (validate.errors ?? []);
  };
}
