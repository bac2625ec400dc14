/** Says in plain words what a schema finds wrong with a request: one fault for each field, whatever alternatives the schema has. */

import type { Fault } from "@inlet/protocol";
import { PATTERN_SENTENCES } from "./text-patterns.ts";

/** What Ajv reports of one keyword. */
export interface SchemaFault {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  message?: string;
  params: Record<string, unknown>;
}

const KINDS: Record<string, string> = {
  array: "a list",
  boolean: "true or false",
  integer: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  string: "a string",
};

const SENTENCES: Record<string, (params: Record<string, unknown>) => string> = {
  required: () => "is required",
  additionalProperties: () => "is not a known parameter or field: check its spelling",
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} items`),
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  maxProperties: ({ limit }) => `must have at most ${limit} fields`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  uniqueItems: () => "must not have the same item twice",
  pattern: ({ pattern }) => PATTERN_SENTENCES[String(pattern)] ?? `must match the pattern ${pattern}`,
};

export function faultsOf(found: readonly SchemaFault[]): Fault[] {
  const byValue = Map.groupBy(found, ({ instancePath }) => instancePath);
  const faults = [...byValue].flatMap(([path, ofValue]) => {
    if (!ofValue.some(isNoneFits)) return withoutRepeatedKinds(ofValue).map((one) => faultOf(one));
    const isFaultyInside = found.some(({ instancePath }) => instancePath.startsWith(`${path}/`));
    return faultsOfAlternatives(ofValue, isFaultyInside);
  });
  return [...new Map(faults.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()];
}

/**
 * The value fits none of several schemas. If it has the kind of one of them, and another fault, that fault is named;
 * else the kinds of all of them are. Nearly always one of the schemas is `null`.
 */
function faultsOfAlternatives(ofValue: readonly SchemaFault[], isFaultyInside: boolean): Fault[] {
  const [noneFits] = ofValue.filter(isNoneFits) as [SchemaFault];
  const others = ofValue.filter((one) => !isNoneFits(one) && !isWrongKind(one));
  const kinds = withoutRepeatedKinds(ofValue.filter(isWrongKind));
  const mayBeNull = kinds.some(isNotNull);
  if (others.length > 0) return others.map((one) => faultOf(one, mayBeNull));
  if (isFaultyInside) return [];
  if (kinds.length === 0) return [faultOf(noneFits)];
  const named = new Set(kinds.filter((one) => !isNotNull(one)).map(kindOf));
  const message = named.size === 0 ? "must be null" : `must be ${[...named].join(" or ")}${mayBeNull ? OR_NULL : ""}`;
  return [{ field: fieldOf(noneFits), message }];
}

const OR_NULL = ", or null";

function faultOf(one: SchemaFault, mayBeNull = false): Fault {
  const { keyword, params, message } = one;
  const sentence = isWrongKind(one) ? `must be ${kindOf(one)}` : (SENTENCES[keyword]?.(params) ?? message ?? "is not valid");
  return { field: fieldOf(one), message: mayBeNull && partOf(one) === undefined ? sentence + OR_NULL : sentence };
}

/** An `enum` says more than the `type` beside it. */
function withoutRepeatedKinds(ofValue: readonly SchemaFault[]): SchemaFault[] {
  const schemasWithEnum = new Set(ofValue.filter(({ keyword }) => keyword === "enum").map(schemaOf));
  return ofValue.filter((one) => one.keyword !== "type" || !schemasWithEnum.has(schemaOf(one)));
}

function isNoneFits({ keyword }: SchemaFault): boolean {
  return keyword === "anyOf";
}

function isWrongKind({ keyword }: SchemaFault): boolean {
  return keyword === "type" || keyword === "enum";
}

function isNotNull({ keyword, params }: SchemaFault): boolean {
  return keyword === "type" && params.type === "null";
}

/** What a value has to be instead. */
function kindOf({ keyword, params }: SchemaFault): string {
  if (keyword === "enum") return `one of ${(params.allowedValues as unknown[]).join(", ")}`;
  return [params.type].flat().map(kindName).join(" or ");
}

function kindName(type: unknown): string {
  return KINDS[String(type)] ?? String(type);
}

function schemaOf({ schemaPath }: SchemaFault): string {
  return schemaPath.slice(0, schemaPath.lastIndexOf("/"));
}

function fieldOf(one: SchemaFault): string {
  const value = one.instancePath.slice(1).replaceAll("/", ".");
  return [value, partOf(one)].filter(Boolean).join(".") || "body";
}

/** The property that is missing, or not known. */
function partOf({ params }: SchemaFault): unknown {
  return params.additionalProperty ?? params.missingProperty;
}
