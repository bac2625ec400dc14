/** What the parts of the compiler share. */

import type { ASTNode } from "@marcbachmann/cel-js";
import { fault, kindOf, type Scope, type Value } from "./values.ts";

export type Evaluate = (scope: Scope) => Value;

/** The state of the compiler. `nodes` counts the nodes compiled so far. */
export interface Compilation {
  readonly text: string;
  readonly locals: ReadonlyMap<string, number>;
  readonly counts: { nodes: number; locals: number };
  usesAsync: boolean;
  /** Fields of the event that are also variables; then there is no `async`. */
  readonly roots?: ReadonlySet<string> | undefined;
}

/** Compiles a node and its children. */
export type CompileNode = (node: ASTNode, compilation: Compilation) => Evaluate;

export function truthOf(value: Value): boolean {
  return typeof value === "boolean" ? value : fault(`true or false is needed, not ${kindOf(value)}`);
}
