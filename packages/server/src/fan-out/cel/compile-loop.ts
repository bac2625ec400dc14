/** The macros of CEL that loop over a list, or over the keys of an object. Each iteration is charged for its work. */

import type { ASTNode } from "@marcbachmann/cel-js";
import { type Compilation, type CompileNode, type Evaluate, truthOf } from "./compilation.ts";
import { absorbed, charge, type Fault, fault, isList, isMap, kindOf, type Scope, type Value } from "./values.ts";

type Loop = (elements: readonly Value[], isTrue: (element: Value) => boolean, valueFor: (element: Value) => Value, scope: Scope) => Value;

const LOOPS: ReadonlyMap<string, Loop> = new Map<string, Loop>([
  ["all", (elements, isTrue, _valueFor, scope) => !finds(false, elements, isTrue, scope)],
  ["exists", (elements, isTrue, _valueFor, scope) => finds(true, elements, isTrue, scope)],
  ["exists_one", (elements, isTrue) => elements.filter(isTrue).length === 1],
  ["filter", (elements, isTrue) => elements.filter(isTrue)],
  ["map", (elements, _isTrue, valueFor) => elements.map(valueFor)],
]);

export function isLoop(name: string): boolean {
  return LOOPS.has(name);
}

/** `list.exists(x, condition)`, `list.map(x, value)`, `list.map(x, condition, value)`. */
export function compileLoop(name: string, args: readonly ASTNode[], compilation: Compilation, compileNode: CompileNode): Evaluate {
  const loop = LOOPS.get(name) as Loop;
  const [range, variable, ...bodies] = args;
  if (!range || variable?.op !== "id" || bodies.length < 1 || bodies.length > (name === "map" ? 2 : 1))
    return fault(`${name}() needs a variable and an expression, such as event.data.items.${name}(item, item.price > 10)`);
  const elementsOf = compileNode(range, compilation);
  const slot = compilation.counts.locals++;
  const nodesBefore = compilation.counts.nodes;
  const inner = { ...compilation, locals: new Map(compilation.locals).set(variable.args, slot) };
  const [first, last] = [bodies[0], bodies.at(-1)].map((body) => compileNode(body as ASTNode, inner)) as [Evaluate, Evaluate];
  compilation.usesAsync = inner.usesAsync;
  const roundCost = compilation.counts.nodes - nodesBefore;
  const isFiltered = bodies.length === 2;
  return (scope) => {
    const valueWith = (body: Evaluate, element: Value) => {
      charge(scope, roundCost);
      scope.locals[slot] = element;
      return body(scope);
    };
    const isTrue = (element: Value) => truthOf(valueWith(first, element));
    const all = listOf(elementsOf(scope), scope);
    return loop(isFiltered ? all.filter(isTrue) : all, isTrue, (element) => valueWith(last, element), scope);
  };
}

/** As with || and &&, a decisive element outweighs others that have no value. */
function finds(decisive: boolean, elements: readonly Value[], isTrue: (element: Value) => boolean, scope: Scope): boolean {
  let failure: Fault | null = null;
  for (const element of elements) {
    try {
      if (isTrue(element) === decisive) return true;
    } catch (error) {
      const absorbable = absorbed(error, scope);
      failure ??= absorbable;
    }
  }
  if (failure) throw failure;
  return false;
}

function listOf(value: Value, scope: Scope): readonly Value[] {
  if (isList(value)) return value;
  if (!isMap(value)) return fault(`a loop needs a list or an object, not ${kindOf(value)}`);
  const keys = Object.keys(value);
  charge(scope, keys.length);
  return keys;
}
