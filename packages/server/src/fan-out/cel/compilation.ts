/** What the parts of the compiler share. */

import type { ASTNode } from "@marcbachmann/cel-js";
import { fault, kindOf, type Scope, type Value } from "./values.ts";

export type Evaluate = (scope: Scope) => Value;

/** What is known while compiling. `nodes` counts those compiled so far. */
export interface Compilation {
  readonly text: string;
  readonly locals: ReadonlyMap<string, number>;
  readonly counts: { nodes: number; locals: number };
  usesAsync: boolean;
  /** Fields of the event that are variables too; then a comparison that has no value is false. Absent: neither. */
  readonly roots?: ReadonlySet<string>;
}

/** Compiles a node and all below it. */
export type CompileNode = (node: ASTNode, compilation: Compilation) => Evaluate;

export function truthOf(value: Value): boolean {
  return typeof value === "boolean" ? value : fault(`true or false is needed, not ${kindOf(value)}`);
}
