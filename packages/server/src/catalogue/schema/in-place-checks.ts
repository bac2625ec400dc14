/** Keywords that apply subschemas to the same value. */

import { type Check, isObject, type Linked, type Linking } from "./check.ts";
import type { Evaluated, SchemaRun } from "./schema-run.ts";

export function inPlaceChecks(linking: Linking): Check[] {
  const several = (keyword: string) => linking.subschemas(keyword).map(({ schema }) => schema);
  const checks = [...several("$ref"), ...several("allOf")].map(sameCheck);
  const anyOf = several("anyOf");
  if (anyOf.length > 0) checks.push(anyOfCheck(anyOf));
  const oneOf = several("oneOf");
  if (oneOf.length > 0) checks.push(oneOfCheck(oneOf));
  const [refused] = several("not");
  if (refused) checks.push((value, path, run) => !run.quietly(refused, value) || run.fault(path, "must NOT be valid"));
  const [condition] = several("if");
  if (condition) checks.push(conditionCheck(condition, several("then")[0], several("else")[0]));
  for (const keyword of ["dependentSchemas", "dependencies"]) {
    for (const { key, schema } of linking.subschemas(keyword))
      checks.push(
        (value, path, run, evaluated) => !isObject(value) || !Object.hasOwn(value, key) || schema.apply(value, path, run, evaluated),
      );
  }
  return checks;
}

function sameCheck(schema: Linked): Check {
  return (value, path, run, evaluated) => schema.apply(value, path, run, evaluated);
}

/** What a branch evaluated counts only if the value matches it. Without `evaluated`, the first match decides. */
function anyOfCheck(branches: readonly Linked[]): Check {
  return (value, path, run, evaluated) => {
    let isFound = false;
    for (const branch of branches) {
      if (!appliesTo(branch, value, run, evaluated)) continue;
      isFound = true;
      if (!evaluated) return true;
    }
    return isFound || noneOf(branches, "must match a schema in anyOf")(value, path, run, null);
  };
}

function oneOfCheck(branches: readonly Linked[]): Check {
  return (value, path, run, evaluated) => {
    let count = 0;
    for (const branch of branches) if (appliesTo(branch, value, run, evaluated) && ++count > 1) break;
    if (count === 0) return noneOf(branches, "must match exactly one schema in oneOf")(value, path, run, null);
    return count === 1 || run.fault(path, "must match exactly one schema in oneOf");
  };
}

/** Collects the faults of every branch of a value that matches none. */
function noneOf(branches: readonly Linked[], message: string): Check {
  return (value, path, run) => {
    if (run.isCollecting) for (const branch of branches) branch.apply(value, path, run, null);
    return run.fault(path, message);
  };
}

function conditionCheck(condition: Linked, whenTrue: Linked | undefined, whenFalse: Linked | undefined): Check {
  return (value, path, run, evaluated) => {
    const isTrue = appliesTo(condition, value, run, evaluated);
    const chosen = isTrue ? whenTrue : whenFalse;
    return !chosen || chosen.apply(value, path, run, evaluated) || run.fault(path, `must match "${isTrue ? "then" : "else"}" schema`);
  };
}

function appliesTo(branch: Linked, value: unknown, run: SchemaRun, evaluated: Evaluated | null): boolean {
  const own: Evaluated | null = evaluated && { isAll: false, keys: new Set() };
  if (!run.quietly(branch, value, own)) return false;
  if (evaluated && own) merge(evaluated, own, run);
  return true;
}

export function merge(into: Evaluated, from: Evaluated, run: SchemaRun): void {
  into.isAll ||= from.isAll;
  run.charge(from.keys.size);
  for (const key of from.keys) into.keys.add(key);
}
