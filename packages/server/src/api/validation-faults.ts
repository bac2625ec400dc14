/** Says in plain words what a schema finds wrong with a request: one fault for each field, whatever alternatives the schema has. */

import type { Fault } from "@inlet/protocol";

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

/** What a value has to be instead. */
const ALLOWED: Record<string, (params: Record<string, unknown>) => string> = {
  type: ({ type }) => [type].flat().map(kindName).join(" or "),
  enum: ({ allowedValues }) => `one of ${(allowedValues as unknown[]).join(", ")}`,
};

const SENTENCES: Record<string, (params: Record<string, unknown>) => string> = {
  required: () => "is required",
  additionalProperties: () => "is not known here",
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  minLength: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} characters`),
  maxLength: ({ limit }) => `must have at most ${limit} characters`,
  minItems: ({ limit }) => (limit === 1 ? "must not be empty" : `must have at least ${limit} items`),
  maxItems: ({ limit }) => `must have at most ${limit} items`,
  maxProperties: ({ limit }) => `must have at most ${limit} fields`,
  exclusiveMinimum: ({ limit }) => `must be more than ${limit}`,
  uniqueItems: () => "must not have the same item twice",
  pattern: ({ pattern }) => `must match the pattern ${pattern}`,
};

export function faultsOf(found: readonly SchemaFault[]): Fault[] {
  const faults = found
    .filter((one) => !isAlternative(one, found) && !isOther(one, found))
    .map((one) => ({ field: fieldOf(one), message: sentenceOf(one, found) }));
  return [...new Map(faults.map((fault) => [`${fault.field} ${fault.message}`, fault])).values()];
}

/** That none of several schemas fits, and that a value is not null either, says nothing where another fault of the value does. */
function isAlternative(one: SchemaFault, found: readonly SchemaFault[]): boolean {
  if (!isNoneFits(one) && !isNotNull(one)) return false;
  const others = found.filter((other) => other !== one && isBelow(other.instancePath, one.instancePath));
  return others.some((other) => !isNoneFits(other) && !isNotNull(other)) || (isNoneFits(one) && others.some(isNotNull));
}

/** If the value has the kind of one alternative and another fault, the kinds of the other alternatives do not help. An `enum` says more than its `type`. */
function isOther(one: SchemaFault, found: readonly SchemaFault[]): boolean {
  if (!isWrongKind(one)) return false;
  if (one.keyword === "type" && found.some((other) => other.keyword === "enum" && schemaOf(other) === schemaOf(one))) return true;
  const isInner = (other: SchemaFault) =>
    isBelow(other.instancePath, one.instancePath) &&
    !isNoneFits(other) &&
    !isNotNull(other) &&
    (!isWrongKind(other) || other.instancePath !== one.instancePath);
  return hasAlternatives(one, found) && found.some(isInner);
}

function sentenceOf(one: SchemaFault, found: readonly SchemaFault[]): string {
  const sentence = ALLOWED[one.keyword] ? `must be ${allowedFor(one, found)}` : ownSentence(one);
  const mayBeNull = found.some((other) => isNotNull(other) && other !== one && other.instancePath === one.instancePath);
  return mayBeNull && fieldOf(one) === dotted(one.instancePath) ? `${sentence}, or null` : sentence;
}

function ownSentence({ keyword, params, message }: SchemaFault): string {
  return SENTENCES[keyword]?.(params) ?? message ?? "is not valid";
}

/** What each of several alternatives takes. */
function allowedFor(one: SchemaFault, found: readonly SchemaFault[]): string {
  const isAlike = (other: SchemaFault) => isWrongKind(other) && other.instancePath === one.instancePath && !isOther(other, found);
  const alike = hasAlternatives(one, found) ? found.filter(isAlike) : [];
  const all = alike.length > 0 ? alike : [one];
  return [...new Set(all.map(({ keyword, params }) => ALLOWED[keyword]?.(params)))].join(" or ");
}

function hasAlternatives({ instancePath }: SchemaFault, found: readonly SchemaFault[]): boolean {
  return found.some((other) => isNoneFits(other) && other.instancePath === instancePath);
}

function isWrongKind(one: SchemaFault): boolean {
  return one.keyword in ALLOWED && !isNotNull(one);
}

function schemaOf({ schemaPath }: SchemaFault): string {
  return schemaPath.slice(0, schemaPath.lastIndexOf("/"));
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
