/** How much source there is: what a reader of `packages/*\/src` has before them, tests and the store's conformance suite left out. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface SourceSize {
  files: number;
  lines: number;
  exportedNames: number;
}

const SOURCES = "packages/*/src/**/*.{ts,tsx,js,sql,css}";
const TESTS = /\.test\.tsx?$|[\\/]conformance([\\/]|\.ts$)/;

export function sourceSize(root: string): SourceSize {
  const files = globSync(SOURCES, { cwd: root }).filter((file) => !TESTS.test(file));
  const texts = files.map((file) => readFileSync(join(root, file), "utf8"));
  const sum = (count: (text: string) => number) => texts.reduce((total, text) => total + count(text), 0);
  return { files: files.length, lines: sum(linesOf), exportedNames: sum(exportedNamesOf) };
}

function linesOf(text: string): number {
  return text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
}

/** Names that are declared where they are exported: passing one on does not make another. */
export function exportedNamesOf(text: string): number {
  return [...text.matchAll(/^export (?:default )?(?:abstract |async )?(?:const|let|function|class|interface|type) \*?\w+/gm)].length;
}
