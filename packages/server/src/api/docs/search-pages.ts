/** Search over the documentation: sections that contain every word of the query, those with the words in their headings first. */

import { Anchors, plainText } from "./block-text.ts";
import type { DocsPage, Documentation } from "./documentation.ts";

export interface Section {
  path: string;
  pageTitle: string;
  heading: string;
  anchor: string;
  text: string;
  /** Title, heading and text in lower case. */
  lower: { title: string; heading: string; text: string };
}

export interface SearchResult {
  section: Section;
  /** The text around the first word found. */
  excerpt: string;
}

export const QUERY_UNITS_MAX = 200;
const WORDS_MAX = 8;
const RESULTS_MAX = 30;
const EXCERPT_BEFORE = 60;
const EXCERPT_UNITS = 220;

/** In the order of the index; pages that it does not list, those of single errors, come last. */
export function sectionsOf({ pages, groups }: Pick<Documentation, "pages" | "groups">): Section[] {
  const listed = groups.flatMap(({ entries }) => entries.map(({ path }) => path));
  const ordered = [...new Set([...listed, ...pages.keys()])].flatMap((path) => pages.get(path) ?? []);
  return ordered.flatMap(sectionsOfPage);
}

function sectionsOfPage({ path, title, blocks }: DocsPage): Section[] {
  const anchors = new Anchors();
  const sections: { heading: string; anchor: string; texts: string[] }[] = [];
  for (const block of blocks) {
    const text = plainText([block]);
    if (block.type === "heading") sections.push({ heading: text, anchor: anchors.next(text), texts: [] });
    else sections.at(-1)?.texts.push(text);
  }
  return sections.map(({ heading, anchor, texts }) => {
    const text = texts.join(" ").replace(/\s+/g, " ");
    const lower = { title: title.toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() };
    return { path, pageTitle: title, heading, anchor, text, lower };
  });
}

export function wordsOf(query: string): string[] {
  return query.slice(0, QUERY_UNITS_MAX).toLowerCase().split(/\s+/).filter(Boolean).slice(0, WORDS_MAX);
}

export function searchSections(sections: readonly Section[], words: readonly string[]): SearchResult[] {
  if (words.length === 0) return [];
  const found = sections.map((section) => ({ section, score: scoreOf(section, words) })).filter(({ score }) => score > 0);
  const best = found.sort((a, b) => b.score - a.score).slice(0, RESULTS_MAX);
  return best.map(({ section }) => ({ section, excerpt: excerptOf(section, words) }));
}

/** 0 if a word is missing. */
function scoreOf({ lower, anchor }: Section, words: readonly string[]): number {
  let score = 0;
  for (const word of words) {
    const inHeading = lower.heading.includes(word);
    if (!inHeading && !lower.text.includes(word) && !lower.title.includes(word)) return 0;
    score += (inHeading ? 10 : 0) + (lower.title.includes(word) ? 5 : 0) + (lower.text.includes(word) ? 1 : 0);
  }
  return anchor === words.join("-") ? score + 20 : score;
}

function excerptOf({ text, lower }: Section, words: readonly string[]): string {
  const positions = words.map((word) => lower.text.indexOf(word)).filter((position) => position >= 0);
  const start = Math.max(0, Math.min(...positions, lower.text.length) - EXCERPT_BEFORE);
  const from = positions.length === 0 ? 0 : start;
  const cut = text.slice(from, from + EXCERPT_UNITS);
  return `${from > 0 ? "…" : ""}${cut}${from + EXCERPT_UNITS < text.length ? "…" : ""}`;
}
