/**
 * Builds the package as it is published: plain JavaScript with declarations in dist/ or another folder, and a package.json there
 * that points at them. In the repository itself nothing is built: "exports" points at the TypeScript source.
 *
 *   npm run build -w packages/sdk [-- <folder>] && npm pack ./packages/sdk/dist
 */

import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = fileURLToPath(new URL("..", import.meta.url));
const DIST = resolve(process.argv[2] ?? join(PACKAGE, "dist"));

rmSync(DIST, { recursive: true, force: true });
compile();
pointDeclarationsAtJavaScript();
writeFileSync(join(DIST, "package.json"), `${JSON.stringify(publishedManifest(), null, 2)}\n`);
copyFileSync(join(PACKAGE, "README.md"), join(DIST, "README.md"));
copyFileSync(join(PACKAGE, "../../LICENSE"), join(DIST, "LICENSE"));

function compile(): void {
  const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
  execFileSync(process.execPath, [join(typescript, "bin/tsc"), "-p", join(PACKAGE, "tsconfig.build.json"), "--outDir", DIST], {
    stdio: "inherit",
  });
}

/** The compiler rewrites `.ts` in JavaScript, but leaves it in declarations. */
function pointDeclarationsAtJavaScript(): void {
  for (const file of globSync("**/*.d.ts", { cwd: DIST })) {
    const path = join(DIST, file);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll(/(["'])(\.{1,2}\/[^"']+)\.ts\1/g, "$1$2.js$1"));
  }
}

/** The package's own manifest, without what only the repository needs. */
function publishedManifest(): Record<string, unknown> {
  const {
    private: _private,
    scripts: _scripts,
    devDependencies: _devDependencies,
    exports,
    ...rest
  } = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8")) as Record<string, unknown> & { exports: Record<string, string> };
  const entries = Object.entries(exports).map(([entry, source]) => {
    const built = source.replace("./src/", "./").replace(/\.ts$/, "");
    return [entry, { types: `${built}.d.ts`, default: `${built}.js` }];
  });
  return { ...rest, exports: { ...Object.fromEntries(entries), "./package.json": "./package.json" } };
}
