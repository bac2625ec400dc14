/**
 * The dashboard's files at `/`, read from its build on demand: nothing is loaded at start or kept in memory. Names of assets
 * contain a hash of their content, so browsers may cache them forever; every other path that requests HTML gets the page itself, which
 * does its own routing. Our own code instead of @fastify/static, because there are only two kinds of files, and the page needs a
 * nonce.
 */

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { acceptedEncoding, type Encoding } from "./accepted-encoding.ts";

/** First path segments of machine interfaces: errors there are JSON. */
const MACHINE_PATHS: ReadonlySet<string> = new Set(["v1", "v0", "e", "fn", "dev", "health", "ready", "metrics", "api"]);

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};
const EXTENSIONS: Readonly<Record<Encoding, string>> = { br: ".br", gzip: ".gz" };

const FOR_EVER = "public, max-age=31536000, immutable";
const ASK_AGAIN = "no-cache";

/** Assets and the few other files. No name can escape the folder. */
const FILE_PATH = /^\/(?:assets\/)?[A-Za-z0-9_][A-Za-z0-9_.-]*\.(js|css|svg|woff2)$/;

export function registerDashboardFiles(app: FastifyInstance, folder: string): void {
  app.get("/*", async (request, reply) => {
    const path = request.url.split("?", 1)[0] ?? "/";
    if (MACHINE_PATHS.has(path.split("/", 2)[1] ?? "")) return reply.callNotFound();
    const extension = FILE_PATH.exec(path)?.[1];
    if (extension !== undefined) return sendFile(request, reply, folder, path, extension);
    if (!wantsPage(request)) return reply.callNotFound();
    return sendPage(reply, folder);
  });
}

/** The root serves the page to every client; elsewhere only a browser requests a page. */
function wantsPage({ url, headers: { accept = "" } }: FastifyRequest): boolean {
  return url.split("?", 1)[0] === "/" || accept.includes("text/html");
}

async function sendFile(request: FastifyRequest, reply: FastifyReply, folder: string, path: string, extension: string) {
  const hashed = path.startsWith("/assets/");
  const encoding = hashed ? acceptedEncoding(request) : null;
  const packed = encoding ? await read(join(folder, path + EXTENSIONS[encoding])) : null;
  const bytes = packed ?? (await read(join(folder, path)));
  if (!bytes) return reply.callNotFound();
  if (packed && encoding) reply.header("content-encoding", encoding);
  reply.header("vary", "accept-encoding");
  reply.header("cache-control", hashed ? FOR_EVER : ASK_AGAIN);
  reply.header("x-content-type-options", "nosniff");
  return reply.type(TYPES[extension] as string).send(bytes);
}

async function sendPage(reply: FastifyReply, folder: string) {
  const page = await read(join(folder, "index.html"));
  const nonce = randomBytes(16).toString("base64");
  reply.headers({ ...PAGE_HEADERS, "content-security-policy": contentPolicy(nonce) });
  return reply.type("text/html; charset=utf-8").send(page ? page.toString("utf8").replace("{{nonce}}", nonce) : NOT_BUILT);
}

const PAGE_HEADERS = {
  // The page names the hashed files of one build, and contains its own nonce.
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // URLs contain ids and search terms, which must not leak to other sites.
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
};

/**
 * Only files of this server can run scripts or style the page; the nonce is for the style element of CodeMirror. Connections may go to
 * this server and, for Send to Dev Server, to the user's own machine.
 */
function contentPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self' http://localhost:* http://127.0.0.1:*",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
<title>Inlet</title>
<h1>Inlet is running, its dashboard is not built</h1>
<p>Run <code>npm run build</code> in the folder of Inlet and load this page again; the service need not be restarted.</p>
<p>Everything else works: events are taken at <code>POST /e/&lt;key&gt;</code>, the REST API is under <code>/v1</code>.</p>
</html>
`;

/** Null if there is no such file. */
async function read(file: string): Promise<Buffer | null> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return null;
    throw error;
  }
}
