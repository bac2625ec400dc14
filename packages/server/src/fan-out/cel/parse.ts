/** The syntax of expressions: CEL, as parsed by the library. */

import { type ASTNode, Environment } from "@marcbachmann/cel-js";

// The library's limits on depth and number of nodes are generous for the length that an expression may have.
const parser = new Environment({ homogeneousAggregateLiterals: false });

/** Throws the library's ParseError, which has a `summary` and a `range`. */
export function parseExpression(text: string): ASTNode {
  return parser.parse(text).ast;
}
