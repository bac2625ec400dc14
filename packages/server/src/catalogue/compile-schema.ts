/**
 * Compiles a declared JSON Schema (draft 2020-12) to a check, or says why it cannot be used. The cost of checking an event is
 * bounded: by size, by references that stay inside the document, by schema-graph.ts, by patterns that run on RE2, and by a `uniqueItems`
 * that compares texts. `format` is not validated.
 */

import { Ajv2020, type ErrorObject } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { schemaGraphFault } from "./schema-graph.ts";

export const SCHEMA_BYTES_MAX = 65_536;
const DEPTH_MAX = 40;
const DRAFT = "https://json-schema.org/draft/2020-12/schema";
/** Keywords that could refer outside the document, or whose meaning depends on the dynamic scope. */
const NOT_SUPPORTED = ["$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary", "$async"];
const FAULTS_MAX = 100;
/** Properties that every object inherits: schemas that name such fields have to distinguish own from inherited ones. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype);

export interface SchemaFault {
  /** A JSON Pointer into `data`. */
  path: string;
  message: string;
}

/** The faults of a value, at most a hundred; none: it matches. */
export type SchemaCheck = (data: unknown) => SchemaFault[];

export function compileSchema(schema: unknown): { check: SchemaCheck } | { fault: string } {
  const fault = schemaFault(schema);
  if (fault !== null) return { fault };
  const ownProperties = INHERITED.some((name) => JSON.stringify(schema).includes(`"${name}"`));
  const ajv = createAjv({ allErrors: true, ownProperties });
  try {
    if (!ajv.validateSchema(schema as object))
      return { fault: `is not a JSON Schema: ${ajv.errorsText(ajv.errors, { dataVar: "schema" })}` };
    const validate = ajv.compile(schema as object);
    // Nearly all events match, and testing for a match is faster than collecting all faults.
    const matches = createAjv({ allErrors: false, ownProperties }).compile(schema as object);
    return { check: (data) => (matches(data) || validate(data) ? [] : faultsOf(validate.errors ?? [])) };
  } catch (error) {
    return { fault: `cannot be used: ${(error as Error).message}` };
  }
}

function schemaFault(schema: unknown): string | null {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) return "must be a JSON Schema: an object";
  if (Buffer.byteLength(JSON.stringify(schema)) > SCHEMA_BYTES_MAX) return `is larger than ${SCHEMA_BYTES_MAX} bytes`;
  return walkFault(schema, 0) ?? schemaGraphFault(schema as Record<string, unknown>);
}

/** Searches everywhere in the schema, even where a name is not a keyword: simpler than distinguishing the two. */
function walkFault(value: unknown, depth: number): string | null {
  if (typeof value !== "object" || value === null) return null;
  if (depth > DEPTH_MAX) return `is nested more than ${DEPTH_MAX} deep`;
  for (const [key, inner] of Object.entries(value)) {
    if (typeof inner === "string" && NOT_SUPPORTED.includes(key)) return `must not use ${key}`;
    if (key === "$ref" && typeof inner === "string" && inner !== "#" && !inner.startsWith("#/"))
      return "may refer with $ref only to places inside itself, such as #/$defs/address";
    if (key === "$schema" && typeof inner === "string" && inner.replace(/#$/, "") !== DRAFT) return `must be of the draft ${DRAFT}`;
    const fault = walkFault(inner, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

function createAjv(options: { allErrors: boolean; ownProperties: boolean }): Ajv2020 {
  const ajv = new Ajv2020({ ...options, strict: false, validateFormats: false, logger: false, code: { regExp } });
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({ keyword: "uniqueItems", type: "array", schemaType: "boolean", validate: isUnique, error: { message: UNIQUE } });
  return ajv;
}

const UNIQUE = "must not have duplicate items";

/** Linear in the length of the text, whatever the pattern. */
const regExp = Object.assign(
  (pattern: string) => {
    const compiled = RE2JS.compile(pattern);
    // Ajv distinguishes patterns by their text.
    return { test: (text: string) => compiled.matcher(text).find(), toString: () => `/${pattern}/` };
  },
  { code: "regExp" },
);

function isUnique(isWanted: boolean, items: readonly unknown[]): boolean {
  return !isWanted || new Set(items.map(canonical)).size === items.length;
}

/** Equal values have the same text, whatever the order of their keys. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

/** If a property is missing or not allowed, the path includes it. */
function faultsOf(errors: readonly ErrorObject[]): SchemaFault[] {
  const faults = errors.slice(0, FAULTS_MAX).map(({ instancePath, params, message = "is not as the schema says", propertyName }) => {
    const { missingProperty, additionalProperty, unevaluatedProperty } = params as Record<string, string | undefined>;
    const named = missingProperty ?? additionalProperty ?? unevaluatedProperty ?? propertyName;
    const path = named === undefined ? instancePath : `${instancePath}/${named.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    return { path, message: missingProperty === undefined ? message : "is required" };
  });
  return faults.filter(
    ({ path, message }, index) => faults.findIndex((other) => other.path === path && other.message === message) === index,
  );
}
