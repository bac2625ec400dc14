/** Pages of the documentation as HTML and as plain text. HTML in a page is shown as text; comments are left out. */

import { lexer, Parser, Renderer, type Token, type Tokens } from "marked";

export type { Token as Block } from "marked";

/** Turns the target of a link or an image into a URL. */
export type ResolveTarget = (target: string) => string;

export function readBlocks(markdown: string): Token[] {
  return lexer(markdown);
}

export function renderBlocks(blocks: readonly Token[], resolve: ResolveTarget): string {
  return Parser.parse([...blocks], { renderer: new PageRenderer(resolve) });
}

class PageRenderer extends Renderer {
  readonly #resolve: ResolveTarget;
  readonly #anchors = new Anchors();

  constructor(resolve: ResolveTarget) {
    super();
    this.#resolve = resolve;
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    const anchor = this.#anchors.next(plainText(tokens));
    return `<h${depth} id="${escapeHtml(anchor)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
  }

  override link({ href, tokens }: Tokens.Link): string {
    return `<a href="${escapeHtml(this.#resolve(href))}">${this.parser.parseInline(tokens)}</a>`;
  }

  override image({ href, text }: Tokens.Image): string {
    return `<img src="${escapeHtml(this.#resolve(href))}" alt="${escapeHtml(text)}" loading="lazy">`;
  }

  /** What is wider than the page can be scrolled by keyboard, too. */
  override code({ text }: Tokens.Code): string {
    return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>\n`;
  }

  override table(token: Tokens.Table): string {
    return `<div class="table" tabindex="0">${super.table(token)}</div>\n`;
  }

  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    return text.startsWith("<!--") ? "" : escapeHtml(text);
  }
}

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

const ESCAPES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string);
}
