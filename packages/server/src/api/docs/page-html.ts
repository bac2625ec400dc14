/** The HTML around a page of the documentation: search, navigation and links. It needs no script. */

import { posix } from "node:path";
import { type DocsPage, type Documentation, INDEX } from "./documentation.ts";
import { escapeHtml } from "./escape-html.ts";
import { QUERY_UNITS_MAX, type SearchResult } from "./search-pages.ts";

export interface PageParts {
  documentation: Documentation;
  /** The version of the service. */
  version: string;
  /** From the requested URL to the folder of the documentation, ending in `/`: links work below any path of a proxy. */
  root: string;
}

interface Frame {
  title: string;
  main: string;
  /** Of the page shown, if it is one. */
  path?: string;
  query?: string;
}

export async function pageHtml(parts: PageParts, page: DocsPage): Promise<string> {
  const { renderBlocks } = await import("./markdown.ts");
  const article = renderBlocks(page.blocks, (target) => urlOf(parts.root, page.path, target));
  const source = `<p class="source"><a href="${parts.root}${page.path}.md" type="text/markdown">This page as Markdown</a></p>`;
  return frame(parts, { title: page.title, path: page.path, main: `<article>${article}</article>${source}` });
}

/** Links of Markdown name files, relative to their own; URLs have no `.md`. */
function urlOf(root: string, path: string, target: string): string {
  if (/^[a-z]+:|^#/.test(target)) return target;
  const [file = "", anchor] = target.split("#", 2);
  const name = posix.join(posix.dirname(path), file).replace(/\.md$/, "");
  return `${root}${name === INDEX ? "" : name}${anchor === undefined ? "" : `#${anchor}`}`;
}

export function searchHtml(parts: PageParts, query: string, results: readonly SearchResult[]): string {
  const items = results.map(({ section: { path, anchor, heading, pageTitle }, excerpt }) => {
    const place = heading === pageTitle ? heading : `${pageTitle}: ${heading}`;
    return `<li><a href="${parts.root}${path}#${escapeHtml(anchor)}">${escapeHtml(place)}</a><p>${escapeHtml(excerpt)}</p></li>`;
  });
  const none = query.trim() === "" ? "Enter a word, an error code or the name of a setting." : "No section contains all of these words.";
  const list = items.length > 0 ? `<ul class="results">${items.join("\n")}</ul>` : `<p>${none}</p>`;
  return frame(parts, { title: "Search", query, main: `<article><h1>Search</h1>${list}</article>` });
}

export function notFoundHtml(parts: PageParts): string {
  const text = "<p>The documentation of this version has no such page. Search for it, or choose a page from the list.</p>";
  return frame(parts, { title: "Page not found", main: `<article><h1>Page not found</h1>${text}</article>` });
}

function frame(parts: PageParts, { title, main, path, query = "" }: Frame): string {
  const { root, version } = parts;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Inlet documentation</title>
<link rel="stylesheet" href="${root}style.css">
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="${root}">Inlet <span>documentation</span> <span class="version">${escapeHtml(version)}</span></a>
<form action="${root}search" role="search">
<input type="search" name="q" maxlength="${QUERY_UNITS_MAX}" value="${escapeHtml(query)}" placeholder="Search" aria-label="Search the documentation">
<button>Search</button>
</form>
<a class="pages" href="#pages">All pages</a>
<a href="${root}../">Dashboard</a>
</header>
<div class="columns">
<main id="content">
${main}
</main>
<nav id="pages" aria-label="Pages">
${navigation(parts, path)}
</nav>
</div>
</body>
</html>
`;
}

function navigation({ documentation, root }: PageParts, current: string | undefined): string {
  return documentation.groups
    .map(({ title, entries }) => {
      const links = entries.map(({ path, title: name }) => {
        const mark = path === current ? ' aria-current="page"' : "";
        return `<li><a href="${root}${path}"${mark}>${escapeHtml(name)}</a></li>`;
      });
      return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${links.join("\n")}\n</ul>`;
    })
    .join("\n");
}
