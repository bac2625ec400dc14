/**
 * Pages of the documentation as HTML. HTML in a page is shown as text; comments are left out. Loaded with the first page that is asked for,
 * so that no start waits for it.
 */

import { lexer, Parser, Renderer, type Token, type Tokens } from "marked";
import { Anchors, plainText } from "./block-text.ts";
import { escapeHtml } from "./escape-html.ts";

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
