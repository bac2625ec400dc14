/** Checks a response against the OpenAPI document, more strictly than clients should: a field the document does not name is a fault. */

import { Ajv2020 } from "ajv/dist/2020.js";

type Json = Record<string, unknown>;

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

/** Says what is wrong with a value, one line per fault; empty when it fits. */
export function faultsOf(document: OpenApiDocument, schema: Json, value: unknown): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile({ ...(closedOff(schema) as Json), components: closedOff(document.components) });
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message, params }) => `${instancePath || "/"} ${message} ${JSON.stringify(params)}`);
}

/** Objects with listed properties get `additionalProperties: false`, unless they say what else they hold. */
function closedOff(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closedOff);
  if (typeof schema !== "object" || schema === null) return schema;
  const parts: Json = Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, closedOff(part)]));
  const isOpenList = parts.type === "object" && typeof parts.properties === "object" && parts.additionalProperties === undefined;
  return isOpenList ? { ...parts, additionalProperties: false } : parts;
}
