/**
 * Builds the dist folder of `@inlet/cli`: the CLI, the service and the protocol as plain JavaScript, and the documentation beside it. Node strips types from our own
 * sources, but refuses to do so below node_modules, where a package lives once installed.
 *
 *   npm pack --workspace @inlet/cli        runs this by itself, as `prepack`, for packages/cli/dist
 *   npm run release                        calls it for a folder of its own
 *
 * The folders keep their places next to each other, so that what a file finds by its own URL (migrations, threads, the dashboard) is
 * found in the package as well. Types become spaces, so lines and columns in a stack are those of the source.
 */

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PACKAGES = join(ROOT, "packages");
/** Ours, and part of the package; everything else it depends on comes from npm. */
const OWN = ["protocol", "providers", "server", "cli"];

interface PackageFile {
  exports?: string | Record<string, string>;
  dependencies?: Record<string, string>;
}

export function buildCli(dist: string): void {
  // That stripping by function call is experimental is known here: it is the one Node itself runs our sources with.
  process.removeAllListeners("warning");
  rmSync(dist, { recursive: true, force: true });
  for (const name of OWN) for (const file of filesOf(name)) writeFile(dist, name, file);
  buildDashboard(dist);
  copyDocs(join(dist, "../docs"));
  cpSync(join(ROOT, "LICENSE"), join(dist, "LICENSE"));
}

function filesOf(name: string): string[] {
  const files = globSync("src/**/*", { cwd: join(PACKAGES, name), withFileTypes: true }).filter((entry) => entry.isFile());
  const sources = files.map((entry) => relative(join(PACKAGES, name), join(entry.parentPath, entry.name)));
  return ["package.json", ...sources.filter((file) => !/\.test\.ts$|\.d\.ts$|\.md$|\/conformance(\/|\.ts$)/.test(file))];
}

function writeFile(dist: string, name: string, file: string): void {
  const target = join(dist, name, file.replace(/\.ts$/, ".js"));
  mkdirSync(dirname(target), { recursive: true });
  const source = join(PACKAGES, name, file);
  if (!file.endsWith(".ts")) return cpSync(source, target);
  const code = stripTypeScriptTypes(readFileSync(source, "utf8"));
  writeFileSync(target, withOwnPackages(withJsEndings(code), dist, dirname(target)));
}

/** `from "./a.ts"`, `import("./a.ts")`, `new URL("./a.ts", …)`. */
function withJsEndings(code: string): string {
  return code.replace(/(\bfrom\s+|\bimport\s+|\bimport\(|\bnew URL\()("\.{1,2}\/[^"]+)\.ts"/g, '$1$2.js"');
}

/** `@inlet/server` is a folder beside this one, not a package of npm. */
function withOwnPackages(code: string, dist: string, folder: string): string {
  return code.replace(/(\bfrom\s+|\bimport\s+|\bimport\()"@inlet\/([a-z]+)(\/[a-z-]+)?"/g, (_, before: string, name: string, sub = "") => {
    const target = relative(folder, join(dist, name, entryOf(name, `.${sub}`).replace(/\.ts$/, ".js")));
    return `${before}"${target.startsWith(".") ? target : `./${target}`}"`;
  });
}

function entryOf(name: string, subpath: string): string {
  const { exports = {} } = JSON.parse(readFileSync(join(PACKAGES, name, "package.json"), "utf8")) as PackageFile;
  const entry = typeof exports === "string" ? exports : exports[subpath];
  if (!entry) throw new Error(`@inlet/${name} exports no ${subpath}`);
  return entry;
}

/** The service looks for it at ../../dashboard/dist, seen from its sources. */
function buildDashboard(dist: string): void {
  const script = join(ROOT, "scripts/ensure-dashboard.cjs");
  if (!existsSync(script)) return;
  const { status } = spawnSync(process.execPath, [script], { stdio: "inherit" });
  if (status !== 0) throw new Error("the dashboard could not be built");
  cpSync(join(PACKAGES, "dashboard/dist"), join(dist, "dashboard/dist"), { recursive: true });
}

/** The service looks for it four folders above its sources. Of the images, those that pages show. */
function copyDocs(target: string): void {
  rmSync(target, { recursive: true, force: true });
  const docs = join(ROOT, "docs");
  const pages = globSync("**/*.md", { cwd: docs });
  const images = pages.flatMap((page) =>
    [...readFileSync(join(docs, page), "utf8").matchAll(/!\[[^\]]*\]\(([^)\s]+\.png)\)/g)].map(([, image = ""]) =>
      join(dirname(page), image),
    ),
  );
  for (const file of [...pages, ...images]) cpSync(join(docs, file), join(target, file), { recursive: true });
}

if (import.meta.main) buildCli(join(PACKAGES, "cli/dist"));
