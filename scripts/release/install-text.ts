/**
 * How the packages are installed. This file is the one place that changes with the first publication: set `PUBLISHED`, then
 * `npm run docs` writes the other text into every page, between `<!-- install:NAME -->` and `<!-- /install -->`.
 */

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Whether `@inlet/cli` and `@inlet/sdk` are on npm. */
const PUBLISHED = false;

/** The pages that have a block for installing. */
export const INSTALL_PAGES = [
  "docs/how-to/install.md",
  "docs/tutorials/first-function.md",
  "docs/reference/sdk.md",
  "docs/how-to/self-hosting.md",
  "packages/cli/README.md",
  "packages/sdk/README.md",
];

const REPOSITORY = "The packages are not on npm yet: build them in a clone of this repository. `INLET` is the folder of the clone.";
const BUILD = 'npm --prefix "$INLET" run release -- --without-advisories';
const packed = (name: string) => `"$INLET"/dist/inlet-${name}-*.tgz`;
const source = (name: string) => (PUBLISHED ? `@inlet/${name}` : packed(name));

function block(commands: readonly string[]): string {
  const lines = PUBLISHED ? commands : ["INLET=~/inlet", BUILD, ...commands];
  return [...(PUBLISHED ? [] : [REPOSITORY, ""]), "```sh", ...lines, "```"].join("\n");
}

const CLI_GLOBAL = `npm install --global ${source("cli")}`;

export const INSTALL_BLOCKS: Readonly<Record<string, string>> = {
  cli: block([CLI_GLOBAL]),
  app: block([CLI_GLOBAL, "npm init --yes", "npm pkg set type=module", `npm install ${source("sdk")}`]),
  sdk: block([`npm install ${source("sdk")}`]),
  project: [
    "```sh",
    `npm install --save-dev ${source("cli")}`,
    "npx @inlet/cli --version",
    "```",
    ...(PUBLISHED ? ["", "Without an install, `npx @inlet/cli` downloads the package for one command."] : []),
  ].join("\n"),
};

/** The page with its blocks as they have to be. */
export function withInstallBlocks(text: string): string {
  return text.replace(/(<!-- install:([a-z]+) -->\n)[\s\S]*?(<!-- \/install -->)/g, (_, opening: string, name: string, closing: string) => {
    const block = INSTALL_BLOCKS[name];
    if (!block) throw new Error(`there is no install block ${name}`);
    return `${opening}${block}\n${closing}`;
  });
}

export function readPage(page: string): string {
  return readFileSync(ROOT + page, "utf8");
}
