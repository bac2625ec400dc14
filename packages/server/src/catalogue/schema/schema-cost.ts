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

import { componentsOf } from "./components.ts";
import { fixedWork } from "./fixed-work.ts";
import type { Patterns } from "./link-schema.ts";
import type { SchemaEdge, SchemaNode } from "./read-schema.ts";
import { SchemaRefused } from "./schema-fault.ts";
import { PATTERN_CHARACTER_WORK } from "./value-checks.ts";

/** A unit takes about ten nanoseconds. So the largest event that is accepted takes a few hundred milliseconds at most. */
const FIXED_MAX = 20_000;
const PER_CHARACTER_MAX = 80;

export interface SchemaCost {
  fixed: number;
  perCharacter: number;
}

interface NodeCost extends SchemaCost {
  /** How many levels of the data it reads; infinite for a schema that contains itself. */
  height: number;
}

/** A key of an object with many takes as long as so many units, and to remember that an item or a key was evaluated still longer. */
const KEY_WORK = 6;
const TRACKED_ITEM_WORK = 30;
const TRACKED_KEY_WORK = 12;

/** The fewest characters that an item or a member takes in JSON. */
const ITEM_CHARACTERS = 2;
const MEMBER_CHARACTERS = 4;

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
    const own = members.map((node) => costOfNode(node, { inside, costs, patterns, tracking: trackingOf(nodes) }));
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
  tracking: { perKey: number; perItem: number };
}

function costOfNode(node: SchemaNode, known: Known): NodeCost {
  const { edges, keywords } = node;
  const inPlace = edges.filter((edge) => isInPlace(edge) && !known.inside.has(edge.to));
  const outside = edges.filter(({ to }) => !known.inside.has(to));
  return {
    fixed: fixedWork(keywords) + sumOf(inPlace.map(({ to }) => (known.costs.get(to) as NodeCost).fixed)),
    perCharacter: workOfValue(node, known) + sumOf(readingsOf(node, inPlace, known).map(({ perCharacter }) => perCharacter)),
    height: Math.max(0, ...outside.map((edge) => (known.costs.get(edge.to) as NodeCost).height + (isInPlace(edge) ? 0 : 1))),
  };
}

/** For each character of a value and of its parts. A value is a text, an object or an array: the most expensive counts. */
function workOfValue(node: SchemaNode, known: Known): number {
  const { keywords, edges } = node;
  if (keywords === false) return 0;
  const { tracking, patterns, inside } = known;
  const count = (names: readonly string[]) => names.filter((name) => Object.hasOwn(keywords, name)).length;
  const widthOf = (texts: readonly string[]) => sumOf(texts.map((text) => patterns.get(text)?.width ?? 0)) * PATTERN_CHARACTER_WORK;
  const several = (names: readonly string[]) => readingsOf(node, edgesOf(edges, names), known);
  const names = Object.keys(keywords.patternProperties ?? {});
  const namesChecks = several(["propertyNames"]);
  const distinctMembers = several(["properties", "additionalProperties"]);
  const members = costOfParts(distinctMembers, several(OBJECT_PARTS), inside.size > 0, {
    each: count(KEY_LOOPS) * KEY_WORK + names.length + tracking.perKey + sumOf(namesChecks.map(({ fixed }) => fixed)),
    characters: MEMBER_CHARACTERS,
  });
  const key = widthOf(names) + sumOf(namesChecks.map(({ perCharacter }) => perCharacter));
  const items = costOfParts(several(["prefixItems", "items"]), several(ARRAY_PARTS), inside.size > 0, {
    each: count(ITEM_LOOPS) + tracking.perItem,
    characters: ITEM_CHARACTERS,
  });
  const text = count(["minLength", "maxLength"]) + widthOf(typeof keywords.pattern === "string" ? [keywords.pattern] : []);
  // To compare items, all parts of them are read, too.
  return Math.max(text, inside.size > 0 ? members + key : Math.max(members, key), items) + count(["uniqueItems"]);
}

/**
 * A part of `length` characters takes `each + fixed + perCharacter × length`, and at least one character for itself. In a schema that
 * contains itself, a part may also be read at other levels: there the two add up.
 */
function costOfParts(
  distinct: readonly SchemaCost[],
  others: readonly SchemaCost[],
  isCyclic: boolean,
  { each, characters }: { each: number; characters: number },
): number {
  const most = (of: (cost: SchemaCost) => number) => Math.max(0, ...distinct.map(of)) + sumOf(others.map(of));
  const once = each + most(({ fixed }) => fixed);
  const perCharacter = most((cost) => cost.perCharacter);
  if (isCyclic) return once / characters + perCharacter;
  return Math.max((once + perCharacter) / characters, perCharacter);
}

/** What the schemas of some edges take, however often they read the same part. Those of the same cycle are counted with it. */
function readingsOf(node: SchemaNode, edges: readonly SchemaEdge[], known: Known): SchemaCost[] {
  const wayBack = wayBackOf(node, known.inside);
  return edges
    .filter(({ to }) => !known.inside.has(to))
    .map((edge) => {
      const { fixed, perCharacter } = known.costs.get(edge.to) as NodeCost;
      const repeats = repeatsOf(node, edge, wayBack, known);
      return { fixed: fixed * repeats, perCharacter: perCharacter * repeats };
    });
}

/** How the schema leads back to itself: the group of the one edge that may; null: it does not. */
function wayBackOf({ edges, place }: SchemaNode, inside: ReadonlySet<SchemaNode>): string | null {
  const groups = new Set(edges.filter(({ to }) => inside.has(to)).map(groupOf));
  if (groups.size > 1) throw new SchemaRefused("refers to itself twice for the same part of the data: remove one reference", place);
  return [...groups][0] ?? null;
}

/** How often a part of the data is read by a schema that is applied at every level of a recursion: once for each level it reads. */
function repeatsOf({ place }: SchemaNode, edge: SchemaEdge, wayBack: string | null, { inside, costs }: Known): number {
  if (inside.size === 0 || wayBack === groupOf(edge)) return 1;
  const { height } = costs.get(edge.to) as NodeCost;
  if (height === Number.POSITIVE_INFINITY)
    throw new SchemaRefused(
      "is recursive and applies another recursive schema to the same data: apply them to different properties",
      place,
    );
  return height + 1;
}

/** Edges of one group lead to different parts of the data. */
function groupOf({ keyword, key }: SchemaEdge): string {
  return DISTINCT_PARTS.has(keyword) ? "parts" : `${keyword} ${key}`;
}

/** Keywords that read all keys of an object, or all items of an array. */
const KEY_LOOPS = ["properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "propertyNames"].concat([
  "required",
  "minProperties",
  "maxProperties",
]);
const ITEM_LOOPS = ["prefixItems", "items", "contains", "unevaluatedItems", "uniqueItems"];

/** What is evaluated is only tracked in a schema that asks for it; and items one by one only if some keyword reads some of them. */
function trackingOf(nodes: readonly SchemaNode[]): Known["tracking"] {
  const uses = (names: readonly string[]) => nodes.some(({ edges }) => edgesOf(edges, names).length > 0);
  if (!uses(["unevaluatedProperties", "unevaluatedItems"])) return { perKey: 0, perItem: 0 };
  return { perKey: TRACKED_KEY_WORK, perItem: uses(["contains", "unevaluatedItems"]) ? TRACKED_ITEM_WORK : 2 };
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
  return new SchemaRefused("has a $ref that leads back to the same schema: put it under properties or items", (first as SchemaNode).place);
}

function refuseExpensive({ fixed, perCharacter }: SchemaCost, { place }: SchemaNode): void {
  if (fixed <= FIXED_MAX && perCharacter <= PER_CHARACTER_MAX) return;
  throw new SchemaRefused(
    "is too complex: checking an event against it would take too long; use fewer alternatives, and patterns that start with ^ and repeat less",
    place,
  );
}
