/** The syntax of expressions: CEL, as parsed by the library. Faults name what is written, not the library's kinds of tokens. */

import { type ASTNode, Environment } from "@marcbachmann/cel-js";

// The library's limits on depth and number of nodes are generous for the length that an expression may have.
const parser = new Environment({ homogeneousAggregateLiterals: false });

/** How the library reports faults: "Unexpected token: GT", "Expected IDENTIFIER, got EOF". */
const TOKEN_FAULT = /^(?:Unexpected token: (?<unexpected>[A-Z]+)|Expected (?<expected>[A-Z]+), got (?<given>[A-Z]+))$/;
const TOKENS: Readonly<Record<string, string>> = {
  EOF: "end of the expression",
  NUMBER: "number",
  STRING: "text",
  BYTES: "bytes",
  BOOLEAN: "true or false",
  NULL: "null",
  IDENTIFIER: "name",
  PLUS: '"+"',
  MINUS: '"-"',
  MULTIPLY: '"*"',
  DIVIDE: '"/"',
  MODULO: '"%"',
  EQ: '"=="',
  NE: '"!="',
  LT: '"<"',
  LE: '"<="',
  GT: '">"',
  GE: '">="',
  AND: '"&&"',
  OR: '"||"',
  NOT: '"!"',
  IN: '"in"',
  LPAREN: '"("',
  RPAREN: '")"',
  LBRACKET: '"["',
  RBRACKET: '"]"',
  LBRACE: '"{"',
  RBRACE: '"}"',
  DOT: '"."',
  COMMA: '","',
  COLON: '":"',
  QUESTION: '"?"',
};

/** Throws an error with a `summary` and, where it is known, the `range` of the fault. */
export function parseExpression(text: string): ASTNode {
  try {
    return parser.parse(text).ast;
  } catch (error) {
    const { summary, range } = error as { summary?: string; range?: { start: number } };
    if (summary === undefined) throw error;
    throw Object.assign(new Error(summary, { cause: error }), { summary: plainSummary(summary), range });
  }
}

function plainSummary(summary: string): string {
  const { unexpected, expected, given } = TOKEN_FAULT.exec(summary)?.groups ?? {};
  if (unexpected !== undefined) return `Unexpected ${tokenText(unexpected)}`;
  return expected !== undefined && given !== undefined ? `Expected ${tokenText(expected)}, got ${tokenText(given)}` : summary;
}

function tokenText(token: string): string {
  return TOKENS[token] ?? token;
}
