/** Random JSON Schemas of every keyword that is applied to events, and events made to be expensive to check. */

import type { Random } from "./attack-plan.ts";

const NAMES = ["a", "b", "n"];
const PATTERNS = ["^a", "a$", "^[ab]{1,9}$", "[ab]*a[ab]{9}b", "^(a|b)*b", "n?", "^(ab?){2,4}$", "b.*a"];
const TYPES = ["null", "boolean", "integer", "number", "string", "array", "object"];

type Schema = Record<string, unknown>;

/** With references, also to itself: many of these schemas have to be refused. */
export function randomSchema(random: Random): Schema {
  const definitions = Array.from({ length: random.below(4) }, (_, n) => `d${n}`);
  const root = subschema(random, 3, definitions);
  const $defs = Object.fromEntries(definitions.map((name) => [name, subschema(random, 2, definitions)]));
  return { ...(typeof root === "object" ? root : {}), $defs };
}

function subschema(random: Random, depth: number, definitions: readonly string[]): Schema | boolean {
  if (random.below(20) === 0) return random.below(2) === 0;
  const schema: Schema = {};
  for (let count = random.below(4); count >= 0; count--) {
    const inner = () => subschema(random, depth - 1, definitions);
    Object.assign(schema, random.below(3) > 0 && depth > 0 ? applied(random, inner, definitions) : asserted(random));
  }
  return schema;
}

function applied(random: Random, inner: () => unknown, definitions: readonly string[]): Schema {
  const some = () => Array.from({ length: 1 + random.below(3) }, inner);
  const byName = () => Object.fromEntries(NAMES.slice(random.below(3)).map((name) => [name, inner()]));
  const keyword = random.pick(["allOf", "anyOf", "oneOf", "not", "if", "dependentSchemas", "dependencies", "properties"].concat(OTHERS));
  if (keyword === "$ref") return { $ref: random.pick(["#", ...definitions.map((name) => `#/$defs/${name}`)]) };
  if (keyword === "if") return Object.fromEntries(["if", "then", "else"].filter(() => random.below(4) > 0).map((name) => [name, inner()]));
  if (["allOf", "anyOf", "oneOf", "prefixItems"].includes(keyword)) return { [keyword]: some() };
  if (keyword === "patternProperties") return { patternProperties: { [random.pick(PATTERNS)]: inner(), [random.pick(PATTERNS)]: inner() } };
  if (["dependentSchemas", "dependencies", "properties"].includes(keyword)) return { [keyword]: byName() };
  return { [keyword]: inner() };
}

const OTHERS = ["$ref", "$ref", "patternProperties", "additionalProperties", "propertyNames", "prefixItems", "items", "contains"].concat([
  "unevaluatedItems",
  "unevaluatedProperties",
  "properties",
  "items",
]);

function asserted(random: Random): Schema {
  const small = random.below(4);
  return random.pick<() => Schema>([
    () => ({ type: random.pick(TYPES) }),
    () => ({ type: [...new Set([random.pick(TYPES), random.pick(TYPES)])] }),
    () => ({ enum: [1, "a", null, { a: 1 }, ["a", small]] }),
    () => ({ const: random.pick([small, "ab", { a: 1 }, [1]]) }),
    () => ({ minimum: small, multipleOf: 1 + small }),
    () => ({ exclusiveMaximum: small + 1 }),
    () => ({ minLength: small, maxLength: small * 4 }),
    () => ({ pattern: random.pick(PATTERNS) }),
    () => ({ minItems: small, maxItems: small * 9 }),
    () => ({ uniqueItems: true }),
    () => ({ minProperties: small }),
    () => ({ maxProperties: small }),
    () => ({ required: NAMES.slice(small) }),
    () => ({ dependentRequired: { a: ["b"], n: ["a", "b"] } }),
    () => ({ dependencies: { a: ["b"], b: ["n"] } }),
    () => ({ contains: { type: random.pick(TYPES) }, minContains: small, maxContains: small + 1 }),
  ])();
}

export function randomValue(random: Random, depth: number): unknown {
  const kind = random.below(depth > 0 ? 12 : 6);
  if (kind < 6) return [null, true, random.below(5), 0.5, random.pick(["", "a", "ab", "abab", "n", "é😀"]), random.pick(["b", "ba"])][kind];
  if (kind < 9) return Array.from({ length: random.below(5) }, () => randomValue(random, depth - 1));
  return Object.fromEntries(NAMES.slice(random.below(4)).map((name) => [name, randomValue(random, depth - 1)]));
}

/** Wide, deep, long, or repetitive. */
export function costlyValue(random: Random): unknown {
  const unit = randomValue(random, 2);
  const chain = (wrap: (value: unknown) => unknown) => Array.from({ length: 200 }).reduce((value) => wrap(value), unit);
  return random.pick<() => unknown>([
    () => Array.from({ length: 2_000 }, () => unit),
    () => Array.from({ length: 2_000 }, () => ({})),
    () => Object.fromEntries(Array.from({ length: 2_000 }, (_, n) => [`${random.pick(NAMES)}${n}`, unit])),
    () => chain((value) => [value]),
    () => chain((value) => ({ a: value, n: value === null })),
    () => chain((value) => ({ n: value, b: [1] })),
    () => chain((value) => [{ a: value, b: 1 }, value === null]),
    () => Array.from({ length: 5_000 }, () => random.pick(["a", "b"])).join(""),
    () => ({ a: Array.from({ length: 500 }, () => ({ a: "ab".repeat(9), b: unit })), n: unit }),
  ])();
}
