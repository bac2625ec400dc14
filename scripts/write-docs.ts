/** Writes the generated references (configuration, errors, REST, tools, CLI, providers, a page per error code) and the install blocks. A test fails if they are out of date. */

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { REFERENCES } from "./references.ts";
import { INSTALL_PAGES, readPage, withInstallBlocks } from "./release/install-text.ts";

const pages = [
  ...Object.entries(REFERENCES).map(([file, text]) => ({ page: `docs/${file}`, text })),
  ...INSTALL_PAGES.map((page) => ({ page, text: withInstallBlocks(readPage(page)) })),
];
mkdirSync(new URL("../docs/errors/", import.meta.url), { recursive: true });
for (const { page, text } of pages) {
  writeFileSync(fileURLToPath(new URL(`../${page}`, import.meta.url)), text);
  console.log(page);
}
