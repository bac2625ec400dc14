/** Compiles the nodes of a schema to functions that call each other. */

import { arrayChecks, unevaluatedItemsCheck } from "./array-checks.ts";
import { type BoundedPattern, boundedPattern } from "./bounded-pattern.ts";
import type { Check, Linked, Linking } from "./check.ts";
import { inPlaceChecks, merge } from "./in-place-checks.ts";
import { objectChecks, unevaluatedPropertiesCheck } from "./object-checks.ts";
import type { SchemaNode } from "./read-schema.ts";
import { SchemaRefused } from "./schema-fault.ts";
import type { Evaluated } from "./schema-run.ts";
import { valueChecks } from "./value-checks.ts";

/** The patterns of a schema, compiled once each. Throws SchemaRefused for one that cannot be used. */
export type Patterns = ReadonlyMap<string, BoundedPattern>;

/** For all patterns of a schema: the memory that the engine may take, and the sets of states, which are tried one by one. Most have fewer than 50, of 300 bytes each. */
const PATTERN_BYTES_MAX = 64 * 1024 * 1024;
const PATTERN_SETS_MAX = 20_000;

export function compilePatterns(nodes: readonly SchemaNode[]): Patterns {
  const patterns = new Map<string, BoundedPattern>();
  let [bytes, sets] = [0, 0];
  for (const { keywords, place } of nodes) {
    if (keywords === false) continue;
    for (const text of patternsOf(keywords).filter((one) => !patterns.has(one))) {
      const pattern = boundedPattern(text, place);
      bytes += pattern.bytes;
      sets += pattern.sets;
      if (bytes > PATTERN_BYTES_MAX || sets > PATTERN_SETS_MAX)
        throw new SchemaRefused("has too many patterns with long repetitions: they would take too much memory", place);
      patterns.set(text, pattern);
    }
  }
  return patterns;
}

export function patternsOf(keywords: Readonly<Record<string, unknown>>): string[] {
  const { pattern, patternProperties } = keywords;
  return [...(typeof pattern === "string" ? [pattern] : []), ...Object.keys(patternProperties ?? {})];
}

/** The check of the first node. */
export function linkSchema(nodes: readonly SchemaNode[], patterns: Patterns): Check {
  const linked = new Map<SchemaNode, Linked>(nodes.map((node) => [node, { apply: () => true }]));
  for (const [node, schema] of linked) schema.apply = linkNode(node, linked, patterns);
  return (linked.get(nodes[0] as SchemaNode) as Linked).apply;
}

function linkNode({ keywords, edges }: SchemaNode, linked: ReadonlyMap<SchemaNode, Linked>, patterns: Patterns): Check {
  if (keywords === false) return (_value, path, run) => run.fault(path, "boolean schema is false");
  const linking: Linking = {
    keywords,
    subschemas: (keyword) =>
      edges.filter((edge) => edge.keyword === keyword).map(({ key, to }) => ({ key, schema: linked.get(to) as Linked })),
    pattern: (text) => patterns.get(text) as BoundedPattern,
  };
  const checks = [...valueChecks(linking), ...objectChecks(linking), ...arrayChecks(linking), ...inPlaceChecks(linking)];
  const last = [
    ...linking.subschemas("unevaluatedProperties").map(({ schema }) => unevaluatedPropertiesCheck(schema)),
    ...linking.subschemas("unevaluatedItems").map(({ schema }) => unevaluatedItemsCheck(schema)),
  ];
  const [only] = checks;
  // A reference and nothing else is the schema it refers to.
  if (only && checks.length + last.length === 1 && edges[0]?.keyword === "$ref") return only;
  return last.length === 0 ? all(checks) : tracking(all([...checks, ...last]));
}

function all(checks: readonly Check[]): Check {
  return (value, path, run, evaluated) => {
    run.enter(checks.length);
    let isValid = true;
    for (const check of checks) {
      if (check(value, path, run, evaluated)) continue;
      isValid = false;
      if (!run.isCollecting) break;
    }
    run.leave();
    return isValid;
  };
}

/** Tracks what its keywords evaluate, for itself and for the schema around it. */
function tracking(apply: Check): Check {
  return (value, path, run, evaluated) => {
    const own: Evaluated = { isAll: false, keys: new Set() };
    const isValid = apply(value, path, run, own);
    if (isValid && evaluated) merge(evaluated, own, run);
    return isValid;
  };
}
