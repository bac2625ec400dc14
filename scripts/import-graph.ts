/**
 * The import graph of the repository, and its cycles.
 *
 * Type imports, re-exports and dynamic imports (`import("…")`) count like any other: in a cycle, no file can be understood, moved
 * or tested without all the others, even if type imports are stripped at run time. To break a cycle, move what the files share to a
 * file that both import. A file that is named by a URL, such as a worker thread, is started and not imported.
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

/** Every specifier in a file, in order. */
export function importsOf(text: string): string[] {
  return [...text.matchAll(/^(?:import|export)\s[^;]*?from\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gms)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
}

/** At least one cycle of each group of files that import each other, as a path that ends where it began. */
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

/** The file behind each import name of our packages: `@inlet/sdk/node` is packages/sdk/src/node.ts. */
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
