/**
 * Compiles the syntax tree of an expression to functions that evaluate it.
 *
 * The library parses; our own code evaluates. The library's evaluator keeps every type of nested
 * list and map it meets forever, so events could fill the memory; it does not bound the work of loops; it infers the type of a list from
 * its first element, so that `1 in ["a", 1]` fails; and it refuses `event.data.amount * 2`.
 */

import type { ASTNode } from "@marcbachmann/cel-js";
import type { CelFunction } from "./cel-function.ts";
import { type Compilation, type Evaluate, truthOf } from "./compilation.ts";
import { compileLoop, isLoop } from "./compile-loop.ts";
import { compilePattern, FUNCTIONS, matches, textOf } from "./functions.ts";
import { BINARY_OPERATORS, isEqual, negate } from "./operators.ts";
import { absorbed, type Fault, fault, isList, isMap, kindOf, MissingField, type Scope, type Value, type ValueMap } from "./values.ts";

/** Throws a Fault for an invalid expression: an unknown variable or function, or an invalid regular expression. */
export function compileNode(node: ASTNode, compilation: Compilation): Evaluate {
  compilation.counts.nodes++;
  switch (node.op) {
    case "value":
      return compileLiteral(node.args);
    case "id":
      return compileVariable(node.args, compilation);
    case ".":
      return compileField(node.args[0], node.args[1], compilation);
    case "[]":
      return compileIndex(node.args[0], node.args[1], compilation);
    case "&&":
      return compileLogical(node.args, false, compilation);
    case "||":
      return compileLogical(node.args, true, compilation);
    case "?:":
      return compileChoice(node.args, compilation);
    case "!_": {
      const operand = compileNode(node.args, compilation);
      return (scope) => !truthOf(operand(scope));
    }
    case "-_": {
      const operand = compileNode(node.args, compilation);
      return (scope) => negate(operand(scope));
    }
    case "list": {
      const elements = node.args.map((element) => compileNode(element, compilation));
      return (scope) => elements.map((element) => element(scope));
    }
    case "map":
      return compileMap(node.args, compilation);
    case "call":
      return compileCall(node.args[0], node.args[1], "plain", compilation);
    case "rcall":
      return compileCall(node.args[0], [node.args[1], ...node.args[2]], "method", compilation);
    default:
      return compileBinary(node, compilation);
  }
}

function compileLiteral(value: unknown): Evaluate {
  if (value instanceof Uint8Array) fault("bytes have no counterpart in JSON");
  // An unsigned int is an object that contains its value.
  const literal = (typeof value === "object" && value !== null ? value.valueOf() : value) as Value;
  return () => literal;
}

function compileVariable(name: string, compilation: Compilation): Evaluate {
  const slot = compilation.locals.get(name);
  if (slot !== undefined) return (scope) => scope.locals[slot] as Value;
  if (name === "event") return (scope) => scope.event;
  if (compilation.roots?.has(name)) return fieldOf((scope) => scope.event, "event", name);
  if (compilation.roots) fault(`unknown variable ${name}: there are event, ${[...compilation.roots].join(", ")}`);
  if (name !== "async") fault(`unknown variable ${name}: there are event and, in waits and cancellations, async`);
  compilation.usesAsync = true;
  return (scope) => scope.async ?? fault("there is no async event here");
}

function compileField(of: ASTNode, field: string, compilation: Compilation): Evaluate {
  return fieldOf(compileNode(of, compilation), sourceOf(of, compilation), field);
}

function fieldOf(container: Evaluate, containerText: string, field: string): Evaluate {
  return (scope) => {
    const value = container(scope);
    if (isMap(value) && Object.hasOwn(value, field)) return value[field] as Value;
    if (isMap(value)) throw new MissingField(`${containerText} has no field ${field}`);
    if (value === null) throw new MissingField(`${containerText} is null, not an object`);
    return fault(`${containerText} is ${kindOf(value)}, not an object`);
  };
}

function compileIndex(of: ASTNode, at: ASTNode, compilation: Compilation): Evaluate {
  const container = compileNode(of, compilation);
  const index = compileNode(at, compilation);
  const containerText = sourceOf(of, compilation);
  const indexText = sourceOf(at, compilation);
  return (scope) => {
    const value = container(scope);
    const key = index(scope);
    if (isMap(value) && typeof key === "string" && Object.hasOwn(value, key)) return value[key] as Value;
    const element = isList(value) && (typeof key === "bigint" || typeof key === "number") ? value[Number(key)] : undefined;
    return element !== undefined ? element : fault(`${containerText} has nothing at [${indexText}]`);
  };
}

/** `decisive` is the value that decides without the other side, even if the other side is a fault. */
function compileLogical([left, right]: readonly ASTNode[], decisive: boolean, compilation: Compilation): Evaluate {
  const first = compileNode(left as ASTNode, compilation);
  const second = compileNode(right as ASTNode, compilation);
  return (scope) => {
    let failure: Fault | null = null;
    try {
      if (truthOf(first(scope)) === decisive) return decisive;
    } catch (error) {
      failure = absorbed(error, scope);
    }
    const truth = truthOf(second(scope));
    if (truth !== decisive && failure) throw failure;
    return truth;
  };
}

function compileChoice([condition, yes, no]: readonly ASTNode[], compilation: Compilation): Evaluate {
  const test = compileNode(condition as ASTNode, compilation);
  const whenTrue = compileNode(yes as ASTNode, compilation);
  const whenFalse = compileNode(no as ASTNode, compilation);
  return (scope) => (truthOf(test(scope)) ? whenTrue(scope) : whenFalse(scope));
}

function compileMap(entries: readonly (readonly [ASTNode, ASTNode])[], compilation: Compilation): Evaluate {
  const compiled = entries.map(([key, value]) => [compileNode(key, compilation), compileNode(value, compilation)] as const);
  // Built from entries: a key may be __proto__.
  return (scope) => Object.fromEntries(compiled.map(([key, value]) => [textOf(key(scope)), value(scope)])) as ValueMap;
}

function compileBinary(node: ASTNode, compilation: Compilation): Evaluate {
  if (node.op === "==" || node.op === "!=") return compileEquality(node.args, node.op === "==", compilation);
  const operator = BINARY_OPERATORS[node.op];
  if (!operator) return fault(`${node.op} is not supported`);
  const [left, right] = (node.args as readonly ASTNode[]).map((operand) => compileNode(operand, compilation)) as [Evaluate, Evaluate];
  return (scope) => operator(left(scope), right(scope), scope);
}

/** A missing field equals null and nothing else, not even another missing field. Apps written for Inngest rely on that. */
function compileEquality(operands: readonly ASTNode[], expected: boolean, compilation: Compilation): Evaluate {
  const [left, right] = operands.map((operand) => orMissing(operand, compileNode(operand, compilation))) as [OrMissing, OrMissing];
  return (scope) => {
    const [a, b] = [left(scope), right(scope)];
    if (a === undefined || b === undefined) return (a === null || b === null) === expected;
    return isEqual(a, b, scope) === expected;
  };
}

type OrMissing = (scope: Scope) => Value | undefined;

function orMissing({ op }: ASTNode, evaluate: Evaluate): OrMissing {
  // A variable can be a field of the event.
  if (op !== "." && op !== "[]" && op !== "id") return evaluate;
  return (scope) => {
    try {
      return evaluate(scope);
    } catch (error) {
      if (error instanceof MissingField) return undefined;
      throw error;
    }
  };
}

function compileCall(name: string, args: readonly ASTNode[], form: "plain" | "method", compilation: Compilation): Evaluate {
  if (form === "plain" && name === "has") return compileHas(args, compilation);
  if (form === "method" && isLoop(name)) return compileLoop(name, args, compilation, compileNode);
  const called = FUNCTIONS.get(name);
  if (!called?.[form]) fault(`unknown function ${name}`);
  const { call, [form]: counts = [] } = called as CelFunction;
  if (!counts.includes(args.length)) fault(`${name}() does not take ${args.length - (form === "method" ? 1 : 0)} arguments`);
  const compiled = args.map((argument) => compileNode(argument, compilation));
  if (name === "matches" && args[1]?.op === "value") return compileMatches(compiled[0] as Evaluate, args[1].args);
  return (scope) =>
    call(
      compiled.map((argument) => argument(scope)),
      scope,
    );
}

/** A literal pattern is compiled with the expression: once, and refused early if it is invalid. */
function compileMatches(subject: Evaluate, written: unknown): Evaluate {
  const pattern = compilePattern(textOf(written as Value));
  return (scope) => matches(textOf(subject(scope)), pattern, scope);
}

/** Whether the last field exists; a fault if one before it does not. */
function compileHas(args: readonly ASTNode[], compilation: Compilation): Evaluate {
  const field = args[0];
  if (args.length !== 1 || field?.op !== ".") return fault("has() needs a field, such as has(event.data.user)");
  const container = compileNode(field.args[0], compilation);
  const name = field.args[1];
  return (scope) => {
    const value = container(scope);
    return isMap(value) && Object.hasOwn(value, name);
  };
}

function sourceOf(node: ASTNode, { text }: Compilation): string {
  return text.slice(node.start, node.end);
}
