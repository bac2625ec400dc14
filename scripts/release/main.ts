/**
 * Builds a release.
 *
 *   npm run release                  builds dist/
 *   npm run release -- --out DIR     builds another folder
 */

import { globSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildRelease } from "./build-release.ts";
import { ROOT } from "./pack-packages.ts";

const { values } = parseArgs({
  options: { out: { type: "string", default: join(ROOT, "dist") } },
});
const release = await buildRelease(resolve(values.out));
for (const file of globSync("*", { cwd: release.folder }).sort()) console.log(join(values.out, file));
