/** The syntax of expressions: CEL, as the library reads it. */

import { type ASTNode, Environment } from "@marcbachmann/cel-js";

// Its limits on depth and number of nodes are generous for the few characters an expression may have.
const parser = new Environment({ homogeneousAggregateLiterals: false });

/** Throws the library's ParseError, which has a `summary` and a `range`. */
export function parseExpression(text: string): ASTNode {
  return parser.parse(text).ast;
}
