/** Says in plain words what a schema finds wrong with a request: one fault for each field, whatever alternatives the schema has. */

import type { Fault } from "@inlet/protocol";

/** What Ajv reports of one keyword. */
export interface SchemaFault {
  keyword: string;
  instancePath: string;
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
  additionalProperties: () => "is not known here",
  type: ({ type }) => `must be ${[type].flat().map(kindName).join(" or ")}`,
  enum: ({ allowedValues }) => `must be one of ${(allowedValues as unknown[]).join(", ")}`,
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} items`),
  maxItems: ({ limit }) => `must have at most ${limit} items`,
};

export function faultsOf(found: readonly SchemaFault[]): Fault[] {
  const faults = found.filter((one) => !isAlternative(one, found)).map((one) => ({ field: fieldOf(one), message: sentenceOf(one, found) }));
  return [...new Map(faults.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()];
}

/** That none of several schemas fits, and that a value is not null either, says nothing where another fault of the value does. */
function isAlternative(one: SchemaFault, found: readonly SchemaFault[]): boolean {
  if (!isNoneFits(one) && !isNotNull(one)) return false;
  const others = found.filter((other) => other !== one && isBelow(other.instancePath, one.instancePath));
  return others.some((other) => !isNoneFits(other) && !isNotNull(other)) || (isNoneFits(one) && others.some(isNotNull));
}

function sentenceOf(one: SchemaFault, found: readonly SchemaFault[]): string {
  const sentence = SENTENCES[one.keyword]?.(one.params) ?? one.message ?? "is not valid";
  const mayBeNull = found.some((other) => isNotNull(other) && other !== one && other.instancePath === one.instancePath);
  return mayBeNull && fieldOf(one) === dotted(one.instancePath) ? `${sentence}, or null` : sentence;
}

function isNoneFits({ keyword }: SchemaFault): boolean {
  return keyword === "anyOf";
}

function isNotNull({ keyword, params }: SchemaFault): boolean {
  return keyword === "type" && params.type === "null";
}

function isBelow(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}/`);
}

function fieldOf({ instancePath, params }: SchemaFault): string {
  const part = params.additionalProperty ?? params.missingProperty;
  return [dotted(instancePath), part].filter(Boolean).join(".") || "body";
}

function dotted(path: string): string {
  return path.slice(1).replaceAll("/", ".");
}

function kindName(type: unknown): string {
  return KINDS[String(type)] ?? String(type);
}
