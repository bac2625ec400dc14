/**
 * The pages of the documentation, read from its folder of Markdown files: the same files in a clone and in the package. docs/index.md
 * lists the pages in groups, with a sentence about each; the navigation and llms.txt come from it.
 */

import { readdir, readFile } from "node:fs/promises";
import { join, posix, sep } from "node:path";
import type { Tokens } from "marked";
import { type Block, plainText } from "./block-text.ts";

export interface DocsPage {
  /** Below the folder, without `.md`. */
  path: string;
  title: string;
  text: string;
  blocks: readonly Block[];
}

export interface DocsGroup {
  title: string;
  entries: { path: string; title: string; about: string }[];
}

export interface Documentation {
  pages: ReadonlyMap<string, DocsPage>;
  groups: readonly DocsGroup[];
  /** Paths of the images that pages show. */
  images: ReadonlySet<string>;
}

export const INDEX = "index";
const ENTRY = /^\[([^\]]+)\]\(([^)]+)\.md\):\s+([\s\S]*)$/;

export async function readDocumentation(folder: string): Promise<Documentation> {
  const { readBlocks } = await import("./markdown.ts");
  const names = (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.replaceAll(sep, "/"));
  const read = await Promise.all(
    names.sort().map(async (name) => {
      const text = await readFile(join(folder, name), "utf8");
      return pageOf(name.slice(0, -3), text, readBlocks(text));
    }),
  );
  const pages = new Map(read.map((page) => [page.path, page]));
  return { pages, groups: groupsOf(pages.get(INDEX)?.blocks ?? []), images: new Set(read.flatMap(imagesOf)) };
}

/** Reads the folder at the first call; after a failure, again at the next. */
export function createDocumentationReader(folder: string): () => Promise<Documentation> {
  let reading: Promise<Documentation> | null = null;
  return () => {
    reading ??= readDocumentation(folder).catch((error: unknown) => {
      reading = null;
      throw error;
    });
    return reading;
  };
}

function pageOf(path: string, text: string, blocks: readonly Block[]): DocsPage {
  const first = blocks.find((block) => block.type === "heading");
  return { path, text, blocks, title: first ? plainText([first]) : path };
}

function groupsOf(blocks: readonly Block[]): DocsGroup[] {
  const groups: DocsGroup[] = [];
  for (const block of blocks) {
    if (block.type === "heading" && block.depth === 2) groups.push({ title: plainText([block]), entries: [] });
    if (block.type === "list") groups.at(-1)?.entries.push(...(block as Tokens.List).items.flatMap(entryOf));
  }
  return groups.filter(({ entries }) => entries.length > 0);
}

function entryOf({ text }: Tokens.ListItem) {
  const [, title, path, about] = ENTRY.exec(text) ?? [];
  return title && path && about ? [{ title, path, about: about.replaceAll("\n", " ") }] : [];
}

function imagesOf({ path, text }: DocsPage): string[] {
  return [...text.matchAll(/!\[[^\]]*\]\(([^)\s]+\.png)\)/g)].map(([, image = ""]) => posix.join(posix.dirname(path), image));
}

/** The first paragraph of a page, on one line. */
export function summaryOf({ blocks }: DocsPage): string {
  const first = blocks.find((block) => block.type === "paragraph");
  return first ? plainText([first]).replaceAll("\n", " ") : "";
}

/** A list of all pages as Markdown, in the format of llmstxt.org. */
export function llmsText({ pages, groups }: Documentation): string {
  const index = pages.get(INDEX);
  const errors = [...pages.values()].filter(({ path }) => path.startsWith("errors/"));
  const sections = [
    ...groups,
    { title: "Error codes", entries: errors.map((page) => ({ path: page.path, title: page.title, about: summaryOf(page) })) },
  ];
  const lines = sections.flatMap(({ title, entries }) => [
    `\n## ${title}\n`,
    ...entries.map(({ path, title: name, about }) => `- [${name}](/docs/${path}.md): ${about}`),
  ]);
  return `# Inlet\n\n> ${index ? summaryOf(index) : ""}\n${lines.join("\n")}\n`;
}
