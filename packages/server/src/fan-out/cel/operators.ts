/**
 * Operators of expressions. JSON numbers are doubles, and whole numbers in an expression are ints. CEL refuses to mix
 * them, which would make `event.data.amount * 2` a fault. Here, mixed arithmetic uses doubles, and so do mixed comparisons: a
 * number of an event equals the same digits in an expression, however many they are.
 */

import { charge, fault, isList, isMap, isNumber, kindOf, type Scope, Span, type Value } from "./values.ts";

export type BinaryOperator = (left: Value, right: Value, scope: Scope) => Value;

const INT_MAX = 2n ** 63n - 1n;
const INT_MIN = -(2n ** 63n);

export const BINARY_OPERATORS: Readonly<Record<string, BinaryOperator>> = {
  "<": (left, right) => order(left, right, "<") < 0,
  "<=": (left, right) => order(left, right, "<=") <= 0,
  ">": (left, right) => order(left, right, ">") > 0,
  ">=": (left, right) => order(left, right, ">=") >= 0,
  in: contains,
  "+": add,
  "-": subtract,
  "*": (left, right) =>
    calculate(
      left,
      right,
      "*",
      (a, b) => a * b,
      (a, b) => a * b,
    ),
  "/": (left, right) =>
    calculate(
      left,
      right,
      "/",
      (a, b) => (b === 0n ? fault("division by zero") : a / b),
      (a, b) => a / b,
    ),
  "%": (left, right) =>
    calculate(
      left,
      right,
      "%",
      (a, b) => (b === 0n ? fault("division by zero") : a % b),
      (a, b) =>
        Number.isInteger(a) && Number.isInteger(b) && b !== 0 ? a % b : fault("the operator % needs whole numbers, and not 0 on its right"),
    ),
};

export function negate(value: Value): Value {
  if (typeof value === "bigint") return inRange(-value);
  return typeof value === "number" ? -value : fault(`the operator - needs a number, not ${kindOf(value)}`);
}

export function isEqual(left: Value, right: Value, scope: Scope): boolean {
  if (left === right) return true;
  if (isNumber(left)) return isNumber(right) && compare(left, right) === 0;
  if (typeof left !== "object" || left === null || typeof right !== "object" || right === null) return false;
  if (left instanceof Date) return right instanceof Date && left.getTime() === right.getTime();
  if (left instanceof Span) return right instanceof Span && left.ms === right.ms;
  if (isList(left)) {
    if (!isList(right) || left.length !== right.length) return false;
    charge(scope, left.length);
    return left.every((element, i) => isEqual(element, right[i] as Value, scope));
  }
  if (!isMap(right)) return false;
  const keys = Object.keys(left);
  charge(scope, keys.length);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key] as Value, right[key] as Value, scope));
}

function order(left: Value, right: Value, operator: string): number {
  if (isNumber(left) && isNumber(right)) return compare(left, right);
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  if (typeof left === "boolean" && typeof right === "boolean") return Number(left) - Number(right);
  if (left instanceof Date && right instanceof Date) return left.getTime() - right.getTime();
  if (left instanceof Span && right instanceof Span) return left.ms - right.ms;
  return fault(`${operator} cannot compare ${kindOf(left)} with ${kindOf(right)}`);
}

function compare(left: number | bigint, right: number | bigint): number {
  if (typeof left !== typeof right) return compare(Number(left), Number(right));
  return left < right ? -1 : left > right ? 1 : left >= right ? 0 : Number.NaN;
}

function contains(element: Value, container: Value, scope: Scope): boolean {
  if (isList(container)) {
    charge(scope, container.length);
    return container.some((candidate) => isEqual(element, candidate, scope));
  }
  if (!isMap(container)) return fault(`the operator in needs a list or an object on its right, not ${kindOf(container)}`);
  return typeof element === "string" && Object.hasOwn(container, element);
}

function add(left: Value, right: Value, scope: Scope): Value {
  if (typeof left === "string" && typeof right === "string") {
    charge(scope, (left.length + right.length) >> 6);
    return left + right;
  }
  if (isList(left) && isList(right)) {
    charge(scope, left.length + right.length);
    return [...left, ...right];
  }
  if (left instanceof Date && right instanceof Span) return new Date(left.getTime() + right.ms);
  if (left instanceof Span && right instanceof Date) return new Date(right.getTime() + left.ms);
  if (left instanceof Span && right instanceof Span) return new Span(left.ms + right.ms);
  return calculate(
    left,
    right,
    "+",
    (a, b) => a + b,
    (a, b) => a + b,
  );
}

function subtract(left: Value, right: Value): Value {
  if (left instanceof Date && right instanceof Date) return new Span(left.getTime() - right.getTime());
  if (left instanceof Date && right instanceof Span) return new Date(left.getTime() - right.ms);
  if (left instanceof Span && right instanceof Span) return new Span(left.ms - right.ms);
  return calculate(
    left,
    right,
    "-",
    (a, b) => a - b,
    (a, b) => a - b,
  );
}

function calculate(
  left: Value,
  right: Value,
  operator: string,
  ofInts: (a: bigint, b: bigint) => bigint,
  ofDoubles: (a: number, b: number) => number,
): Value {
  if (typeof left === "bigint" && typeof right === "bigint") return inRange(ofInts(left, right));
  if (isNumber(left) && isNumber(right)) return ofDoubles(Number(left), Number(right));
  return fault(`${operator} cannot take ${kindOf(left)} and ${kindOf(right)}`);
}

function inRange(value: bigint): bigint {
  return value > INT_MAX || value < INT_MIN ? fault("a whole number is beyond 64 bits") : value;
}
