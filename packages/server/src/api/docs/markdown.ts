/**
 * The Markdown of our own documentation as HTML: headings, paragraphs, lists, tables and blocks of code. A test renders every page and
 * fails on anything else, so that a page shows nothing as raw text. Raw HTML is escaped; comments are left out.
 */

import { escapeHtml, type ResolveTarget, renderInline, withoutMarks } from "./markdown-inline.ts";

export interface Heading {
  level: number;
  text: string;
  /** The id of the heading, as GitHub makes it. */
  anchor: string;
}

/** One block of a page. The lines of a block of code are those between the fences. */
export type Block =
  | { kind: "heading"; heading: Heading }
  | { kind: "code"; language: string; lines: string[] }
  | { kind: "table"; rows: string[][] }
  | { kind: "list"; ordered: boolean; items: string[] }
  | { kind: "paragraph"; text: string };

const FENCE = /^```(\w*)$/;
const HEADING = /^(#{1,6}) (.*)$/;
const ITEM = /^(?:-|(\d+)\.) +(.*)$/;
const COMMENT = /^<!--.*-->$/;

export function readBlocks(markdown: string): Block[] {
  const lines = markdown.split("\n");
  const anchors = new Map<string, number>();
  const blocks: Block[] = [];
  while (lines.length > 0) {
    const line = lines.shift() as string;
    const fence = FENCE.exec(line);
    const heading = HEADING.exec(line);
    if (line.trim() === "" || COMMENT.test(line)) continue;
    if (fence) blocks.push({ kind: "code", language: fence[1] ?? "", lines: takeCode(lines) });
    else if (heading) blocks.push({ kind: "heading", heading: headingOf(heading, anchors) });
    else if (line.startsWith("|"))
      blocks.push({ kind: "table", rows: rowsOf([line, ...takeWhile(lines, (next) => next.startsWith("|"))]) });
    else if (ITEM.test(line)) blocks.push(listOf([line, ...takeWhile(lines, (next) => ITEM.test(next) || /^ +\S/.test(next))]));
    else blocks.push({ kind: "paragraph", text: [line, ...takeWhile(lines, isParagraphLine)].join("\n") });
  }
  return blocks;
}

function takeCode(lines: string[]): string[] {
  const code = takeWhile(lines, (line) => line !== "```");
  lines.shift();
  return code;
}

/** Removes the lines from the front for which `holds`, and returns them. */
function takeWhile(lines: string[], holds: (line: string) => boolean): string[] {
  const end = lines.findIndex((line) => !holds(line));
  return lines.splice(0, end === -1 ? lines.length : end);
}

function isParagraphLine(line: string): boolean {
  return line.trim() !== "" && !FENCE.test(line) && !HEADING.test(line) && !ITEM.test(line) && !COMMENT.test(line) && !line.startsWith("|");
}

function headingOf([, marks = "", source = ""]: RegExpExecArray, anchors: Map<string, number>): Heading {
  const text = withoutMarks(source);
  const base = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
  const count = anchors.get(base) ?? 0;
  anchors.set(base, count + 1);
  return { level: marks.length, text: source, anchor: count === 0 ? base : `${base}-${count}` };
}

/** The second line of a table only separates its head. */
function rowsOf(lines: string[]): string[][] {
  return lines
    .filter((_, i) => i !== 1)
    .map((line) =>
      line
        .replace(/^\||\|\s*$/g, "")
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim().replaceAll("\\|", "|")),
    );
}

function listOf(lines: string[]): Block {
  const items: string[] = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) items.push(item[2] ?? "");
    else items.push(`${items.pop()}\n${line.trim()}`);
  }
  return { kind: "list", ordered: ITEM.exec(lines[0] ?? "")?.[1] !== undefined, items };
}

export function renderBlocks(blocks: readonly Block[], resolve: ResolveTarget): string {
  return blocks.map((block) => renderBlock(block, resolve)).join("\n");
}

function renderBlock(block: Block, resolve: ResolveTarget): string {
  const inline = (text: string) => renderInline(text, resolve);
  switch (block.kind) {
    case "heading": {
      const { level, text, anchor } = block.heading;
      return `<h${level} id="${escapeHtml(anchor)}">${inline(text)}</h${level}>`;
    }
    case "code":
      return `<pre tabindex="0"><code>${escapeHtml(block.lines.join("\n"))}</code></pre>`;
    case "table":
      return tableHtml(block.rows, inline);
    case "list": {
      const name = block.ordered ? "ol" : "ul";
      return `<${name}>\n${block.items.map((item) => `<li>${inline(item)}</li>`).join("\n")}\n</${name}>`;
    }
    case "paragraph":
      return `<p>${inline(block.text)}</p>`;
  }
}

function tableHtml([head = [], ...body]: string[][], inline: (text: string) => string): string {
  const cells = (name: string, row: string[]) => row.map((cell) => `<${name}>${inline(cell)}</${name}>`).join("");
  const rows = body.map((row) => `<tr>${cells("td", row)}</tr>`).join("\n");
  return `<div class="table" tabindex="0"><table>\n<thead><tr>${cells("th", head)}</tr></thead>\n<tbody>\n${rows}\n</tbody></table></div>`;
}
