/**
 * The values of expressions: JSON values as JSON.parse creates them, whole numbers written in the expression (bigint, which
 * CEL calls int), timestamps and durations.
 */

export type Value = null | boolean | string | number | bigint | Date | Span | readonly Value[] | ValueMap;

export interface ValueMap {
  readonly [key: string]: Value;
}

/** A duration. */
export class Span {
  readonly ms: number;

  constructor(ms: number) {
    this.ms = ms;
  }
}

/**
 * Thrown if an expression has no value: a field is missing, or types do not match. Not an Error, because this happens for most
 * events that do not match, and creating a stack trace is expensive.
 */
export class Fault {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** The fault of a missing field. */
export class MissingField extends Fault {}

export function fault(message: string): never {
  throw new Fault(message);
}

/** The input of one evaluation. `locals` are the variables of exists, map and the like, by their number in the expression. */
export interface Scope {
  readonly event: Value;
  readonly async: Value | undefined;
  readonly nowMs: number;
  readonly locals: Value[];
  costLeft: number;
}

/**
 * One unit is about the work of one node, 64 characters of plain text or one character of a
 * regular expression with few states.
 * Loops over event data must not block the service, whatever the event contains.
 */
export const COST_MAX = 1_000_000;

export function charge(scope: Scope, cost: number): void {
  scope.costLeft -= cost;
  if (scope.costLeft < 0) fault("the expression takes too much work on an event of this size");
}

/** Returns a fault that another operand may outweigh; any other error, or the end of the budget, is rethrown. */
export function absorbed(error: unknown, scope: Scope): Fault {
  if (error instanceof Fault && scope.costLeft >= 0) return error;
  throw error;
}

export function isMap(value: Value): value is ValueMap {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date) && !(value instanceof Span);
}

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

export function isNumber(value: Value): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** For messages. */
export function kindOf(value: Value): string {
  if (value === null) return "null";
  if (isNumber(value)) return "a number";
  if (isList(value)) return "a list";
  if (value instanceof Date) return "a timestamp";
  if (value instanceof Span) return "a duration";
  return { string: "a string", boolean: "a boolean" }[typeof value as string] ?? "an object";
}
