/** Checks a response against the OpenAPI document, more strictly than clients should: a field the document does not name is a fault. */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

type Json = Record<string, unknown>;

/** The id of the document for those schemas that refer to it. */
const DOCUMENT = "document:openapi";

export interface OpenApiDocument {
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: { schemas: Record<string, Json> };
}

export interface OpenApiOperation {
  operationId: string;
  summary?: string;
  security?: unknown[];
  parameters: { name: string; in: string; required: boolean }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  responses: Record<string, { description: string; content: Record<string, { schema: Json }> }>;
}

type ResponseCheck = (schema: Json, value: unknown) => string[];

/** By what their documents define: services of either engine define the same. */
const checks = new Map<string, ResponseCheck>();

/** Returns a function that says what is wrong with a value, one line per fault; none when it fits. Every schema is compiled once. */
export function responseCheck({ components }: OpenApiDocument): ResponseCheck {
  const defined = JSON.stringify(components);
  const check = checks.get(defined) ?? newCheck(components);
  checks.set(defined, check);
  return check;
}

function newCheck(components: OpenApiDocument["components"]): ResponseCheck {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, inlineRefs: false, code: { optimize: false } });
  ajv.addSchema({ $id: DOCUMENT, components: closedOff(components) });
  const compiled = new Map<string, ValidateFunction>();
  return (schema, value) => {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? ajv.compile(closedOff(schema) as Json);
    compiled.set(text, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(
      ({ instancePath, message, params }) => `${instancePath || "/"} ${message} ${JSON.stringify(params)}`,
    );
  };
}

/**
 * Objects with listed properties get `additionalProperties: false`, unless they say what else they hold. A schema on its own refers to the
 * document by its id.
 */
function closedOff(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedOff);
  if (typeof schema !== "object" || schema === null) return schema;
  const parts: Json = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closedOff(part)]));
  if (typeof parts.$ref === "string") return { ...parts, $ref: DOCUMENT + parts.$ref };
  const isOpenList = parts.type === "object" && typeof parts.properties === "object" && parts.additionalProperties === undefined;
  return isOpenList ? { ...parts, additionalProperties: false } : parts;
}
