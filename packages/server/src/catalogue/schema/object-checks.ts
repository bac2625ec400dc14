/** Keywords about objects. The members of an object are read in one loop, whatever the number of declared properties. */

import { type Check, isObject, type JsonObject, type Linked, type Linking } from "./check.ts";
import { below, type SchemaRun } from "./schema-run.ts";
import { PATTERN_CHARACTER_WORK } from "./value-checks.ts";

type Operand = JsonObject[string];

export function objectChecks(linking: Linking): Check[] {
  const { keywords } = linking;
  const { required, maxProperties, minProperties, dependentRequired, dependencies } = keywords;
  const checks: Check[] = [];
  if (isPresent(required)) checks.push(requiredCheck(required as readonly string[]));
  if (isPresent(maxProperties)) checks.push(countCheck((count) => count <= Number(maxProperties), `more than ${maxProperties} properties`));
  if (isPresent(minProperties))
    checks.push(countCheck((count) => count >= Number(minProperties), `fewer than ${minProperties} properties`));
  for (const map of [dependentRequired, dependencies]) if (isObject(map)) checks.push(...dependentChecks(map));
  if (["properties", "patternProperties", "additionalProperties"].some((keyword) => isPresent(keywords[keyword])))
    checks.push(membersCheck(linking));
  const [names] = linking.subschemas("propertyNames");
  if (names) checks.push(namesCheck(names.schema));
  return checks;
}

/** Applied after the other keywords of its schema. */
export function unevaluatedPropertiesCheck(schema: Linked): Check {
  return (value, path, run, evaluated) => {
    if (!isObject(value) || !evaluated || evaluated.isAll) return true;
    let isValid = true;
    for (const key of run.keysOf(value)) {
      if (evaluated.keys.has(key) || schema.apply(value[key], below(path, key, run), run, null)) continue;
      isValid = run.fault(below(path, key, run), "must NOT have unevaluated properties");
      if (!run.isCollecting) return false;
    }
    evaluated.isAll = true;
    return isValid;
  };
}

function isPresent(operand: Operand): boolean {
  return operand !== undefined;
}

function requiredCheck(names: readonly string[]): Check {
  return (value, path, run) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const name of names) {
      run.charge(1);
      if (Object.hasOwn(value, name)) continue;
      isValid = run.fault(below(path, name, run), "is required");
      if (!run.isCollecting) return false;
    }
    return isValid;
  };
}

function countCheck(test: (count: number) => boolean, what: string): Check {
  return (value, path, run) => {
    if (!isObject(value)) return true;
    return test(run.keysOf(value).length) || run.fault(path, `must NOT have ${what}`);
  };
}

/** Lists of names only; subschemas are applied with those of dependentSchemas. */
function dependentChecks(map: JsonObject): Check[] {
  return Object.entries(map)
    .filter(([, names]) => Array.isArray(names))
    .map(([name, names]) => {
      const check = requiredCheck(names as readonly string[]);
      return (value, path, run, evaluated) => !isObject(value) || !Object.hasOwn(value, name) || check(value, path, run, evaluated);
    });
}

function membersCheck(linking: Linking): Check {
  const schemasFor = schemasOfKey(linking);
  const rest = linking.subschemas("additionalProperties")[0]?.schema;
  const isRestRefused = linking.keywords.additionalProperties === false;
  return (value, path, run, evaluated) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const key of run.keysOf(value)) {
      const schemas = schemasFor(key, run);
      if (schemas.length > 0 || rest) evaluated?.keys.add(key);
      if (schemas.length === 0 && isRestRefused) isValid = run.fault(below(path, key, run), "must NOT have additional properties");
      else if (schemas.length === 0 && rest) isValid = rest.apply(value[key], below(path, key, run), run, null) && isValid;
      else for (const schema of schemas) isValid = schema.apply(value[key], below(path, key, run), run, null) && isValid;
      if (!isValid && !run.isCollecting) return false;
    }
    return isValid;
  };
}

/** The schemas that properties and patternProperties declare for a key. */
function schemasOfKey(linking: Linking): (key: string, run: SchemaRun) => readonly Linked[] {
  const properties = new Map(linking.subschemas("properties").map(({ key, schema }) => [key, [schema]]));
  const patterns = linking.subschemas("patternProperties").map(({ key, schema }) => ({ ...linking.pattern(key), schema }));
  const none: Linked[] = [];
  if (patterns.length === 0) return (key) => properties.get(key) ?? none;
  return (key, run) => {
    const matching = patterns.filter(({ matches, width }) => {
      run.charge(1 + key.length * width * PATTERN_CHARACTER_WORK);
      return matches(key);
    });
    return [...(properties.get(key) ?? none), ...matching.map(({ schema }) => schema)];
  };
}

function namesCheck(schema: Linked): Check {
  return (value, path, run) => {
    if (!isObject(value)) return true;
    let isValid = true;
    for (const key of run.keysOf(value)) {
      if (run.quietly(schema, key)) continue;
      isValid = run.fault(below(path, key, run), "property name must be valid");
      if (!run.isCollecting) return false;
    }
    return isValid;
  };
}
