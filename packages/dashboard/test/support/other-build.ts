/** The dashboard of another version: the same code in files of other names, as every change of the code gives them. */

import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const DIST = fileURLToPath(new URL("../../dist/", import.meta.url));
/** At the end of the names of the other build's files. */
export const OTHER = "-other";

export function writeOtherBuild(folder: string): void {
  cpSync(DIST, folder, { recursive: true });
  const assets = join(folder, "assets");
  const files = readdirSync(assets).filter((name) => /\.(?:js|css)$/.test(name));
  const renamed = (text: string) =>
    files.reduce((written, name) => written.replaceAll(name, name.replace(/\.(\w+)$/, `${OTHER}.$1`)), text);
  for (const name of files) {
    const text = renamed(readFileSync(join(assets, name), "utf8"));
    for (const old of [name, `${name}.br`, `${name}.gz`]) rmSync(join(assets, old), { force: true });
    writeFileSync(join(assets, renamed(name)), text);
  }
  const page = join(folder, "index.html");
  writeFileSync(page, renamed(readFileSync(page, "utf8")));
}
