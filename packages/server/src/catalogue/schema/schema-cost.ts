/**
 * Bounds the work of checking an event, before any event is seen: `fixed + perCharacter × length of the data`, in the units that
 * SchemaRun counts. A schema is a graph whose edges apply subschemas, to the same value or to its parts.
 *
 * - Subschemas applied to the same value add up. Of the properties of an object, the most expensive counts, because each is
 *   applied to a different part of the data.
 * - A reference cycle that does not descend into the data would never end: refused.
 * - A schema that contains itself is applied once for each level of the data. It may lead back to itself once for each part:
 *   with two ways, as in `allOf: [{$ref: "#"}, {$ref: "#"}]`, the cost would double with every level. Nor may another schema that
 *   contains itself be applied beside it to the same part, because then each level would add one.
 */

import { isObject } from "./check.ts";
import { componentsOf } from "./components.ts";
import { type Patterns, patternsOf } from "./link-schema.ts";
import type { SchemaEdge, SchemaNode } from "./read-schema.ts";
import { SchemaRefused } from "./schema-fault.ts";
import { PATTERN_CHARACTER_WORK } from "./value-checks.ts";

const FIXED_MAX = 20_000;
const PER_CHARACTER_MAX = 250;

export interface SchemaCost {
  fixed: number;
  perCharacter: number;
}

interface NodeCost extends SchemaCost {
  /** How many levels of the data it reads; infinite for a schema that contains itself. */
  height: number;
}

/** The fewest characters that an item, a member or a key takes in JSON. */
const ITEM_CHARACTERS = 2;
const MEMBER_CHARACTERS = 4;
const KEY_CHARACTERS = 2;

/** Applied to parts of which each is a different one. */
const DISTINCT_PARTS: ReadonlySet<string> = new Set(["properties", "additionalProperties", "prefixItems", "items"]);
const OBJECT_PARTS = ["patternProperties", "unevaluatedProperties"];
const ARRAY_PARTS = ["contains", "unevaluatedItems"];
const PARTS: ReadonlySet<string> = new Set([...DISTINCT_PARTS, ...OBJECT_PARTS, ...ARRAY_PARTS, "propertyNames"]);

/** Throws SchemaRefused if the cost is too high or has no bound. */
export function schemaCost(nodes: readonly SchemaNode[], patterns: Patterns): SchemaCost {
  for (const component of componentsOf(nodes, isInPlace)) if (component.isCyclic) throw endless(component.nodes);
  const costs = new Map<SchemaNode, NodeCost>();
  // Components come after those that they lead to.
  for (const { nodes: members, isCyclic } of componentsOf(nodes, () => true)) {
    const inside: ReadonlySet<SchemaNode> = new Set(isCyclic ? members : []);
    const own = members.map((node) => costOfNode(node, { inside, costs, patterns, isTracking: usesUnevaluated(nodes) }));
    const fixed = own.reduce((sum, cost) => sum + cost.fixed, 0);
    const perCharacter = own.reduce((sum, cost) => sum + cost.perCharacter, isCyclic ? fixed / ITEM_CHARACTERS : 0);
    const cost = { fixed, perCharacter, height: isCyclic ? Number.POSITIVE_INFINITY : (own[0]?.height ?? 0) };
    refuseExpensive(cost, members[0] as SchemaNode);
    for (const node of members) costs.set(node, cost);
  }
  return costs.get(nodes[0] as SchemaNode) as NodeCost;
}

interface Known {
  /** The nodes of the same cycle: their cost is counted once for all of them. */
  inside: ReadonlySet<SchemaNode>;
  costs: ReadonlyMap<SchemaNode, NodeCost>;
  patterns: Patterns;
  isTracking: boolean;
}

function costOfNode(node: SchemaNode, known: Known): NodeCost {
  const { edges, keywords } = node;
  const wayBack = wayBackOf(node, known.inside);
  const spread = (edge: SchemaEdge, characters: number): number => {
    if (known.inside.has(edge.to)) return 0;
    const { fixed, perCharacter } = known.costs.get(edge.to) as NodeCost;
    return (fixed / characters + perCharacter) * repeatsOf(node, edge, wayBack, known);
  };
  const total = (names: readonly string[], characters: number) => sumOf(edgesOf(edges, names).map((edge) => spread(edge, characters)));
  const most = (names: readonly string[], characters: number) =>
    Math.max(0, ...edgesOf(edges, names).map((edge) => spread(edge, characters)));
  const object =
    most(["properties", "additionalProperties"], MEMBER_CHARACTERS) +
    total(OBJECT_PARTS, MEMBER_CHARACTERS) +
    total(["propertyNames"], KEY_CHARACTERS);
  const array = most(["prefixItems", "items"], ITEM_CHARACTERS) + total(ARRAY_PARTS, ITEM_CHARACTERS);
  const inPlace = edges.filter((edge) => isInPlace(edge) && !known.inside.has(edge.to));
  const outside = edges.filter(({ to }) => !known.inside.has(to));
  return {
    fixed: fixedWork(keywords) + sumOf(inPlace.map(({ to }) => (known.costs.get(to) as NodeCost).fixed)),
    perCharacter:
      localWork(keywords, known) + Math.max(object, array) + sumOf(inPlace.map((edge) => spread(edge, Number.POSITIVE_INFINITY))),
    height: Math.max(0, ...outside.map((edge) => (known.costs.get(edge.to) as NodeCost).height + (isInPlace(edge) ? 0 : 1))),
  };
}

/** How the schema leads back to itself: the group of the one edge that may; null: it does not. */
function wayBackOf({ edges, place }: SchemaNode, inside: ReadonlySet<SchemaNode>): string | null {
  const groups = new Set(edges.filter(({ to }) => inside.has(to)).map(groupOf));
  if (groups.size > 1) throw new SchemaRefused("contains itself more than once for the same part of the data", place);
  return [...groups][0] ?? null;
}

/** How often a part of the data is read by a schema that is applied at every level of a recursion: once for each level it reads. */
function repeatsOf({ place }: SchemaNode, edge: SchemaEdge, wayBack: string | null, { inside, costs }: Known): number {
  if (inside.size === 0 || wayBack === groupOf(edge)) return 1;
  const { height } = costs.get(edge.to) as NodeCost;
  if (height === Number.POSITIVE_INFINITY)
    throw new SchemaRefused("contains itself, and applies another schema that does to the same part of the data", place);
  return height + 1;
}

/** Edges of one group lead to different parts of the data. */
function groupOf({ keyword, key }: SchemaEdge): string {
  return DISTINCT_PARTS.has(keyword) ? "parts" : `${keyword} ${key}`;
}

/** For each value: one for the schema and one for each check, the reads of constants, and the names it may miss. */
function fixedWork(keywords: SchemaNode["keywords"]): number {
  if (keywords === false) return 1;
  const { enum: values = [], dependentRequired = {}, dependencies = {} } = keywords;
  const maps = [...Object.values(dependentRequired as object), ...Object.values(dependencies as object)];
  const names = maps.filter(Array.isArray).flat().length + maps.length;
  const { allOf = [] } = keywords as { allOf?: readonly unknown[] };
  return 3 + Object.keys(keywords).length + allOf.length + names + containersIn(values) + containersIn(keywords.const);
}

/** For each character of the value itself, without its parts: the loops over its keys, its items and its text. */
function localWork(keywords: SchemaNode["keywords"], { patterns, isTracking }: Known): number {
  if (keywords === false) return 0;
  const count = (names: readonly string[]) => names.filter((name) => Object.hasOwn(keywords, name)).length;
  const tracked = isTracking ? 2 : 0;
  const width = sumOf(patternsOf(keywords).map((text) => patterns.get(text)?.width ?? 0));
  const perKey = count(KEY_LOOPS) + patternsOf(keywords).length + tracked;
  const perItem = count(ITEM_LOOPS) + tracked;
  return perKey / MEMBER_CHARACTERS + perItem / ITEM_CHARACTERS + count(["minLength", "maxLength"]) + width * PATTERN_CHARACTER_WORK;
}

/** Keywords that read all keys of an object, or all items of an array. */
const KEY_LOOPS = ["properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"].concat([
  ...["required", "minProperties", "maxProperties", "uniqueItems"],
]);
const ITEM_LOOPS = ["prefixItems", "items", "contains", "unevaluatedItems", "uniqueItems"];

/** The number of values in the arrays and objects of a constant; others are found without reading all. */
function containersIn(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return 1 + sumOf(Object.values(value).map((inner) => (isObject(inner) || Array.isArray(inner) ? containersIn(inner) : 1)));
}

function usesUnevaluated(nodes: readonly SchemaNode[]): boolean {
  return nodes.some(({ edges }) => edges.some(({ keyword }) => keyword.startsWith("unevaluated")));
}

function isInPlace({ keyword }: SchemaEdge): boolean {
  return !PARTS.has(keyword);
}

function edgesOf(edges: readonly SchemaEdge[], names: readonly string[]): SchemaEdge[] {
  return edges.filter(({ keyword }) => names.includes(keyword));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

function endless([first]: readonly SchemaNode[]): SchemaRefused {
  return new SchemaRefused("has a reference that leads back to itself", (first as SchemaNode).place);
}

function refuseExpensive({ fixed, perCharacter }: SchemaCost, { place }: SchemaNode): void {
  if (fixed <= FIXED_MAX && perCharacter <= PER_CHARACTER_MAX) return;
  throw new SchemaRefused(
    "is too complex: checking an event against it would take too long; use fewer alternatives, and patterns that start with ^",
    place,
  );
}
