/**
 * The documentation of the version that runs, open to everyone: `/docs/<page>` as HTML, `/docs/<page>.md` as Markdown,
 * `/docs/search?q=`, and `/llms.txt`, which lists the pages. Pages are read at the first request and rendered once each. A path is only
 * ever looked up among the pages and images that were read, so no path leads to another file.
 */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Documentation, INDEX, llmsText } from "./documentation.ts";
import { notFoundHtml, type PageParts, pageHtml, searchHtml } from "./page-html.ts";
import { type Section, searchSections, sectionsOf, wordsOf } from "./search-pages.ts";

export interface DocsRoutesParts {
  /** Holds the Markdown files. */
  folder: string;
  documentation(): Promise<Documentation>;
  version: string;
}

interface Site {
  documentation: Documentation;
  sections: readonly Section[];
  style: string;
  /** Rendered files by URL path below the documentation. */
  rendered: Map<string, RenderedFile>;
}

interface RenderedFile {
  type: string;
  body: string | Buffer;
  etag: string;
}

const HTML = "text/html; charset=utf-8";
const MARKDOWN = "text/markdown; charset=utf-8";
const STYLE_FILE = new URL("style.css", import.meta.url);

const HEADERS = {
  // A new version of the service has other pages: browsers ask whether theirs are still the same.
  "cache-control": "no-cache",
  "content-security-policy":
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
};

export function registerDocsRoutes(app: FastifyInstance, { folder, documentation, version }: DocsRoutesParts): void {
  let site: Promise<Site> | null = null;
  const readSite = () => {
    site ??= openSite(documentation).catch((error: unknown) => {
      site = null;
      throw error;
    });
    return site;
  };

  async function answer(request: FastifyRequest, reply: FastifyReply) {
    const { "*": path = "" } = request.params as { "*"?: string };
    const opened = await readSite();
    const parts = { documentation: opened.documentation, version, root: rootFrom(request.url) };
    if (path === "search") return sendSearch(opened, parts, request, reply);
    const file = await fileAt(opened, parts, folder, path);
    if (file) return sendFile(request, reply, file);
    if (!(request.headers.accept ?? "").includes("text/html")) return reply.callNotFound();
    return reply.headers(HEADERS).code(404).type(HTML).send(notFoundHtml(parts));
  }

  app.get("/docs", answer);
  app.get("/docs/*", answer);
  app.get("/llms.txt", async (request, reply) => {
    return sendFile(request, reply, fileOf("text/plain; charset=utf-8", llmsText(await documentation())));
  });
}

async function openSite(read: () => Promise<Documentation>): Promise<Site> {
  const [documentation, style] = await Promise.all([read(), readFile(STYLE_FILE, "utf8")]);
  return { documentation, style, sections: sectionsOf(documentation), rendered: new Map() };
}

/** `/docs` is beside the folder, `/docs/a` in it, `/docs/a/b` one below. */
function rootFrom(url: string): string {
  const depth = (url.split("?", 1)[0] ?? "").split("/").length - 3;
  if (depth < 0) return "docs/";
  return depth === 0 ? "./" : "../".repeat(depth);
}

/** Null if there is nothing at the path. Only what exists is kept, so there are no more entries than files. */
async function fileAt(site: Site, parts: PageParts, folder: string, path: string): Promise<RenderedFile | null> {
  // The index is at two depths: `/docs` and `/docs/`.
  const name = path === "" ? `${parts.root}${INDEX}` : path;
  const known = site.rendered.get(name);
  if (known) return known;
  const made = await renderFile(site, parts, folder, path);
  if (made) site.rendered.set(name, made);
  return made;
}

async function renderFile({ documentation, style }: Site, parts: PageParts, folder: string, path: string): Promise<RenderedFile | null> {
  const { pages, images } = documentation;
  const page = pages.get(path === "" ? INDEX : path);
  if (page) return fileOf(HTML, await pageHtml(parts, page));
  const source = path.endsWith(".md") ? pages.get(path.slice(0, -3)) : undefined;
  if (source) return fileOf(MARKDOWN, source.text);
  if (path === "style.css") return fileOf("text/css; charset=utf-8", style);
  return images.has(path) ? fileOf("image/png", await readFile(join(folder, path))) : null;
}

function fileOf(type: string, body: string | Buffer): RenderedFile {
  return { type, body, etag: `"${createHash("sha256").update(body).digest("base64url")}"` };
}

function sendFile({ headers }: FastifyRequest, reply: FastifyReply, { type, body, etag }: RenderedFile) {
  reply.headers({ ...HEADERS, etag });
  if (headers["if-none-match"]?.split(",").some((tag) => tag.trim() === etag)) return reply.code(304).send();
  return reply.type(type).send(body);
}

function sendSearch({ sections }: Site, parts: PageParts, request: FastifyRequest, reply: FastifyReply) {
  const { q } = request.query as { q?: string | string[] };
  const query = typeof q === "string" ? q : "";
  return reply
    .headers(HEADERS)
    .type(HTML)
    .send(searchHtml(parts, query, searchSections(sections, wordsOf(query))));
}
