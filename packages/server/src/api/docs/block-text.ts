/** The plain text of parsed Markdown, for titles, results and search. */

import type { Token, Tokens } from "marked";

export type { Token as Block } from "marked";

/** The ids of a page's headings, as GitHub makes them. */
export class Anchors {
  readonly #used = new Map<string, number>();

  next(heading: string): string {
    const base = heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-");
    const count = this.#used.get(base) ?? 0;
    this.#used.set(base, count + 1);
    return count === 0 ? base : `${base}-${count}`;
  }
}

/** What a reader sees of a block or of parts of a line, for titles, results and search. */
export function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join("");
}

function textOf(token: Token): string {
  switch (token.type) {
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows]
        .flat()
        .map(({ tokens }) => plainText(tokens))
        .join(" ");
    }
    case "list":
      return (token as Tokens.List).items.map(({ tokens }) => plainText(tokens)).join(" ");
    case "code":
    case "codespan":
      return (token as Tokens.Code).text;
    case "html":
      return "";
    default:
      return token.type !== "image" && "tokens" in token && token.tokens ? plainText(token.tokens) : ((token as Tokens.Text).text ?? "");
  }
}
