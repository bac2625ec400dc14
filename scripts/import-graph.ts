/**
 * Which file of the repository imports which, and the circles among them.
 *
 * Imports of types, re-exports and imports at run time (`import("…")`) count as any other: in a circle no file can be understood, moved
 * or tested without all the others, whatever is left of the imports once types are stripped. The way out is a file below both,
 * with what they share. A file that is named by a URL, as that of a worker thread is, is started and not imported.
 */

import { globSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

const FILES = "{packages/*/{src,bin,test,scripts},scripts,bench,examples}/**/*.{ts,tsx,js,cjs,mjs}";

/** Paths are relative to the root, with slashes. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export function readImportGraph(root: string): ImportGraph {
  const isForeign = (path: string) => /(^|[\\/])(node_modules|dist)$/.test(path);
  const files = globSync(FILES, { cwd: root, exclude: isForeign }).map((file) => file.replaceAll("\\", "/"));
  const entries = packageEntries(root);
  const known = new Set(files);
  const imported = (file: string) =>
    importsOf(readFileSync(join(root, file), "utf8"))
      .map((specifier) => (specifier.startsWith(".") ? posix.join(posix.dirname(file), specifier) : entries.get(specifier)))
      .filter((target) => target !== undefined && known.has(target));
  return new Map(files.map((file) => [file, imported(file) as string[]]));
}

/** Every specifier a file names, in the order they stand. */
export function importsOf(text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\s[^;]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gms)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
}

/** At least one circle of each group of files that import each other, as a path that ends where it began. */
export function findCircles(graph: ImportGraph): string[][] {
  const circles: string[][] = [];
  const finished = new Set<string>();
  const path: string[] = [];
  function visit(file: string): void {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file]);
    if (start >= 0 || finished.has(file)) return;
    path.push(file);
    for (const target of graph.get(file) ?? []) visit(target);
    path.pop();
    finished.add(file);
  }
  for (const file of graph.keys()) visit(file);
  return circles;
}

/** The file behind each name under which a package of ours can be imported: `@inlet/sdk/node` is packages/sdk/src/node.ts. */
function packageEntries(root: string): Map<string, string> {
  const entries = new Map<string, string>();
  for (const file of globSync("packages/*/package.json", { cwd: root })) {
    const { name, exports = {} } = JSON.parse(readFileSync(join(root, file), "utf8")) as {
      name: string;
      exports?: string | Record<string, string>;
    };
    const folder = posix.dirname(file.replaceAll("\\", "/"));
    for (const [path, target] of Object.entries(typeof exports === "string" ? { ".": exports } : exports))
      entries.set(posix.join(name, path), posix.join(folder, target));
  }
  return entries;
}
