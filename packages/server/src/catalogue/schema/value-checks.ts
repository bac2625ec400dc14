/** Keywords about one value: its type, its constants, numbers and strings. */

import type { Check, Linking } from "./check.ts";
import { isObject } from "./check.ts";
import type { SchemaRun } from "./schema-run.ts";

/** What each character of a text costs, times the width of the pattern. */
export const PATTERN_CHARACTER_WORK = 4;

type Compile = (operand: never, linking: Linking) => Check;

const COMPILERS: Readonly<Record<string, Compile>> = {
  type: typeCheck,
  enum: (values: readonly unknown[]) => oneOfValues(values, "must be equal to one of the allowed values"),
  const: (value: unknown) => oneOfValues([value], "must be equal to constant"),
  multipleOf: (of: number) => numberCheck(multipleTest(of), `must be multiple of ${of}`),
  maximum: (limit: number) => numberCheck((value) => value <= limit, `must be <= ${limit}`),
  exclusiveMaximum: (limit: number) => numberCheck((value) => value < limit, `must be < ${limit}`),
  minimum: (limit: number) => numberCheck((value) => value >= limit, `must be >= ${limit}`),
  exclusiveMinimum: (limit: number) => numberCheck((value) => value > limit, `must be > ${limit}`),
  maxLength: (limit: number) => textCheck((value, run) => pointsIn(value, run) <= limit, `must NOT have more than ${limit} characters`),
  minLength: (limit: number) => textCheck((value, run) => pointsIn(value, run) >= limit, `must NOT have fewer than ${limit} characters`),
  pattern: patternCheck,
};

export const VALUE_KEYWORDS: readonly string[] = Object.keys(COMPILERS);

export function valueChecks(linking: Linking): Check[] {
  const { keywords } = linking;
  return Object.entries(COMPILERS)
    .filter(([keyword]) => Object.hasOwn(keywords, keyword))
    .map(([keyword, compile]) => compile(keywords[keyword] as never, linking));
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  number: (value) => typeof value === "number",
  string: (value) => typeof value === "string",
  array: Array.isArray,
  object: isObject,
};

/** `nullable`, which OpenAPI documents use, also allows null. */
function typeCheck(written: string | readonly string[], { keywords }: Linking): Check {
  const names = [written].flat().concat(keywords.nullable === true ? "null" : []);
  const tests = names.map((name) => TYPES[name]).filter((one) => one !== undefined);
  const message = `must be ${names.join(",")}`;
  return (value, path, run) => tests.some((isOfType) => isOfType(value)) || run.fault(path, message);
}

/** Texts, numbers, booleans and null are found in a set; arrays and objects are compared, each at most as far as the constant goes. */
function oneOfValues(values: readonly unknown[], message: string): Check {
  const simple = new Set(values.filter((value) => typeof value !== "object" || value === null));
  const containers = values.filter((value) => typeof value === "object" && value !== null);
  return (value, path, run) => {
    const isFound =
      typeof value === "object" && value !== null
        ? containers.some((container) => isEqual(container, value, run))
        : simple.has(value === 0 ? 0 : value);
    return isFound || run.fault(path, message);
  };
}

function isEqual(constant: unknown, value: unknown, run: SchemaRun): boolean {
  run.charge(1);
  if (constant === value) return true;
  if (Array.isArray(constant)) {
    return Array.isArray(value) && value.length === constant.length && constant.every((item, index) => isEqual(item, value[index], run));
  }
  if (!isObject(constant) || !isObject(value)) return false;
  const keys = Object.keys(constant);
  return keys.every((key) => Object.hasOwn(value, key) && isEqual(constant[key], value[key], run)) && hasKeys(value, keys.length);
}

/** Whether an object has so many keys; reads no more of them than that. */
function hasKeys(value: object, count: number): boolean {
  let found = 0;
  for (const _ in value) if (++found > count) return false;
  return found === count;
}

function numberCheck(test: (value: number) => boolean, message: string): Check {
  return (value, path, run) => typeof value !== "number" || test(value) || run.fault(path, message);
}

/** 10^22 is the largest power of ten that is a double. */
const SCALE_MAX = 1e22;

/**
 * Compares as decimals: 19.99 is a multiple of 0.01, although the quotient of the two doubles is not whole. The quotient decides only
 * about numbers that, in units of the last decimal place, are beyond 2^53: there doubles do not tell neighbours apart.
 */
function multipleTest(of: number): (value: number) => boolean {
  const isWholeQuotient = (value: number) => Number.isInteger(value / of);
  const scale = decimalScale(of);
  if (scale === null) return isWholeQuotient;
  const units = Math.round(of * scale);
  const isMultiple = (value: number, scaled: number) => scaled / scale === value && scaled % units === 0;
  return (value) => {
    // Near 2^53 the product is rounded to a neighbour.
    const near = Math.round(value * scale);
    if (!Number.isSafeInteger(near)) return isWholeQuotient(value);
    return isMultiple(value, near) || isMultiple(value, near - 1) || isMultiple(value, near + 1);
  };
}

/** The power of ten that makes a number whole; null: there is none within the precision of doubles. */
function decimalScale(of: number): number | null {
  for (let scale = 1; scale <= SCALE_MAX; scale *= 10) {
    const units = Math.round(of * scale);
    if (units / scale === of) return Number.isSafeInteger(units) ? scale : null;
  }
  return null;
}

function textCheck(test: (value: string, run: SchemaRun) => boolean, message: string): Check {
  return (value, path, run) => typeof value !== "string" || test(value, run) || run.fault(path, message);
}

/** Lengths are in code points. */
function pointsIn(text: string, run: SchemaRun): number {
  run.charge(text.length);
  let points = text.length;
  for (let i = 1; i < text.length; i++) if (isLow(text.charCodeAt(i)) && isHigh(text.charCodeAt(i - 1))) points--;
  return points;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

function patternCheck(written: string, { pattern }: Linking): Check {
  const { shown, width, matches } = pattern(written);
  return textCheck((value, run) => {
    run.charge(value.length * width * PATTERN_CHARACTER_WORK);
    return matches(value);
  }, `must match pattern "${shown}"`);
}
