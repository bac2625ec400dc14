/** Nothing tells a user to fetch a stranger's package, and every page installs ours the same way. */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { INSTALL_PAGES, readPage, withInstallBlocks } from "./install-text.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SKIPPED = [
  "**/node_modules/**",
  "**/dist/**",
  "packages/cli/docs/**",
  ".git/**",
  "**/.inlet/**",
  "bench/results/**",
  "package-lock.json",
];
const TEXTS = globSync("**/*.{md,ts,tsx,js,cjs,json,yaml,yml,sh,html,service,conf,txt}", { cwd: ROOT, exclude: SKIPPED });
const RUN = "(?:npx|bunx|npm exec|pnpm (?:dlx|exec)|yarn dlx)";
const INSTALL = "(?:npm (?:i|install|add)|pnpm add|yarn (?:global )?add)";
/** npm's package `inlet` belongs to somebody else; without an install, `npx` fetches it. */
const STRANGER = new RegExp(String.raw`\b(?:${RUN}|${INSTALL})(?:[ ]+-\S+)*[ ]+inlet(?![\w/.-])`);

test("the check finds what it looks for", () => {
  const inlet = "inlet";
  for (const text of [`npx ${inlet} dev`, `npx --yes ${inlet}`, `npm install -g ${inlet}\n`, `pnpm dlx ${inlet} send`])
    assert.match(text, STRANGER);
  for (const text of ["npx @inlet/cli dev", "npm install --global @inlet/cli", "npm install ./inlet-cli.tgz"])
    assert.doesNotMatch(text, STRANGER);
});

test("no document, message or example runs or installs a package named just inlet", () => {
  assert.ok(TEXTS.length > 500, `${TEXTS.length} files were found`);
  for (const file of TEXTS) {
    const [found] = STRANGER.exec(readFileSync(ROOT + file, "utf8")) ?? [];
    assert.equal(found, undefined, `${file}: the packages are @inlet/cli and @inlet/sdk, the command is inlet`);
  }
});

test("every page shows the one way to install, and pages without it lead there", () => {
  for (const page of INSTALL_PAGES) {
    const text = readPage(page);
    assert.match(text, /<!-- install:/, `${page} has no block`);
    assert.equal(text, withInstallBlocks(text), `${page}: run \`npm run docs\``);
    assert.doesNotMatch(text.replace(/<!-- install:[\s\S]*?<!-- \/install -->/g, ""), new RegExp(`${INSTALL}.*@inlet/`), page);
  }
  const guides = globSync("docs/**/*.md", { cwd: ROOT }).filter((page) =>
    /^(?:\$ |- run: )?(?:[A-Z_]+=\S+ )?(?:npx @inlet\/cli|inlet) /m.test(readPage(page)),
  );
  const without = guides.filter((page) => !INSTALL_PAGES.includes(page) && !/\binstall\.md\b/.test(readPage(page)));
  assert.deepEqual(without, [], "these use the command and do not say how to install it");
});

test("variables in commands expand: none stands between single quotes", () => {
  for (const page of ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })]) {
    const blocks = [...readPage(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, script = ""]) => script);
    for (const script of blocks)
      for (const [, single = ""] of script.matchAll(/'([^']*)'|"(?:[^"\\]|\\.)*"/g))
        assert.doesNotMatch(single, /\$[A-Z_]{2,}/, `${page}: ${script}`);
  }
});
