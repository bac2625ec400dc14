/** Keywords about arrays. */

import type { Check, Linked, Linking } from "./check.ts";
import { below } from "./schema-run.ts";

export function arrayChecks(linking: Linking): Check[] {
  const { maxItems, minItems, uniqueItems } = linking.keywords;
  const checks: Check[] = [];
  if (maxItems !== undefined) checks.push(countCheck((count) => count <= Number(maxItems), `more than ${maxItems} items`));
  if (minItems !== undefined) checks.push(countCheck((count) => count >= Number(minItems), `fewer than ${minItems} items`));
  const prefix = linking.subschemas("prefixItems").map(({ schema }) => schema);
  const rest = linking.subschemas("items")[0]?.schema;
  if (prefix.length > 0 || rest) checks.push(itemsCheck(prefix, rest));
  const [contained] = linking.subschemas("contains");
  if (contained) checks.push(containsCheck(contained.schema, linking.keywords));
  if (uniqueItems === true) checks.push(uniqueCheck);
  return checks;
}

/** Applied after the other keywords of its schema. */
export function unevaluatedItemsCheck(schema: Linked): Check {
  return (value, path, run, evaluated) => {
    if (!Array.isArray(value) || !evaluated || evaluated.isAll) return true;
    let isValid = true;
    run.charge(value.length);
    for (let index = 0; index < value.length; index++) {
      if (evaluated.keys.has(index) || schema.apply(value[index], below(path, index, run), run, null)) continue;
      isValid = run.fault(below(path, index, run), "must NOT have unevaluated items");
      if (!run.isCollecting) return false;
    }
    evaluated.isAll = true;
    return isValid;
  };
}

function countCheck(test: (count: number) => boolean, what: string): Check {
  return (value, path, run) => !Array.isArray(value) || test(value.length) || run.fault(path, `must NOT have ${what}`);
}

function itemsCheck(prefix: readonly Linked[], rest: Linked | undefined): Check {
  return (value, path, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const covered = rest ? value.length : Math.min(value.length, prefix.length);
    run.charge(covered);
    if (evaluated && rest) evaluated.isAll = true;
    let isValid = true;
    for (let index = 0; index < covered; index++) {
      if (!rest) evaluated?.keys.add(index);
      if ((prefix[index] ?? (rest as Linked)).apply(value[index], below(path, index, run), run, null)) continue;
      isValid = false;
      if (!run.isCollecting) return false;
    }
    return isValid;
  };
}

function containsCheck(schema: Linked, { minContains, maxContains }: Linking["keywords"]): Check {
  const least = minContains === undefined ? 1 : Number(minContains);
  const most = maxContains === undefined ? Number.POSITIVE_INFINITY : Number(maxContains);
  const message = `must contain at least ${least}${most === Number.POSITIVE_INFINITY ? "" : ` and no more than ${most}`} valid item(s)`;
  return (value, path, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    let count = 0;
    run.charge(value.length);
    for (let index = 0; index < value.length; index++) {
      if (!run.quietly(schema, value[index])) continue;
      count++;
      evaluated?.keys.add(index);
    }
    return (count >= least && count <= most) || run.fault(path, message);
  };
}

function uniqueCheck(...[value, path, run]: Parameters<Check>): boolean {
  if (!Array.isArray(value)) return true;
  return run.hasUniqueItems(value) || run.fault(path, "must not have duplicate items");
}
