/** The work that a subschema's own keywords take for each value, even the smallest. */

import { isObject } from "./check.ts";
import type { SchemaNode } from "./read-schema.ts";

/** Starting to match a pattern takes as much work as this many checks. */
const PATTERN_WORK = 5;

/** One for the schema and one for each check and each type, the arrays and objects of constants, and the names that `dependentRequired` may require. */
export function fixedWork(keywords: SchemaNode["keywords"]): number {
  if (keywords === false) return 1;
  const { enum: values = [], const: constant, type, pattern, allOf = [], dependentRequired = {}, dependencies = {} } = keywords;
  const maps = [...Object.values(dependentRequired as object), ...Object.values(dependencies as object)];
  const names = maps.filter(Array.isArray).flat().length + 2 * maps.length;
  const checks = Object.keys(keywords).length + [type].flat().length + (allOf as readonly unknown[]).length;
  return 4 + checks + names + (pattern === undefined ? 0 : PATTERN_WORK) + containersIn(values) + containersIn([constant]);
}

/** The work of comparing a value with the arrays and objects among these; other constants are found in a set. */
function containersIn(values: unknown): number {
  const containers = (values as readonly unknown[]).filter((value) => isObject(value) || Array.isArray(value));
  return containers.reduce<number>((sum, container) => sum + sizeOf(container), 0);
}

function sizeOf(constant: unknown): number {
  if (typeof constant !== "object" || constant === null) return 1;
  return 3 + Object.values(constant).reduce<number>((sum, inner) => sum + sizeOf(inner), 0);
}
