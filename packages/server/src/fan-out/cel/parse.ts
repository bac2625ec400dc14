/** The syntax of expressions: CEL, as the library reads it. */

import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { whenNeeded } from "../when-needed.ts";

const library = whenNeeded<typeof import("@marcbachmann/cel-js")>("@marcbachmann/cel-js");
let parser: Environment | undefined;

/** Throws the library's ParseError, which has a `summary` and a `range`. */
export function parseExpression(text: string): ASTNode {
  // Its limits on depth and number of nodes are generous for the few characters an expression may have.
  parser ??= new (library().Environment)({ homogeneousAggregateLiterals: false });
  return parser.parse(text).ast;
}
