/** The syntax of expressions: CEL, as the library reads it. */

import { createRequire } from "node:module";
import type { ASTNode, Environment } from "@marcbachmann/cel-js";

let parser: Environment | undefined;

/** Throws the library's ParseError, which has a `summary` and a `range`. */
export function parseExpression(text: string): ASTNode {
  parser ??= loadParser();
  return parser.parse(text).ast;
}

/** With the first expression: a service whose functions have none need not hold it in memory. */
function loadParser(): Environment {
  const library = createRequire(import.meta.url)("@marcbachmann/cel-js") as typeof import("@marcbachmann/cel-js");
  // Its limits on depth and number of nodes are generous for the few characters an expression may have.
  return new library.Environment({ homogeneousAggregateLiterals: false });
}
