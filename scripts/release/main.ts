/**
 * Builds a release, and tries it.
 *
 *   npm run release                  builds dist/
 *   npm run release -- --out DIR     builds another folder, which must be empty or have nothing but a release
 *   npm run release -- --without-advisories
 *                                    builds although the registry was not asked for advisories, or although it knows some
 *   npm run release -- --check       also installs the packages with npm, pnpm and Yarn on Node 20, 22 and 24 and follows the guides;
 *                                    needs the npm registry, bash, curl and openssl. --only TEXT runs the checks whose name contains it
 */

import { globSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ageOfPins, imagePins } from "../deploy/image-pins.ts";
import { findAdvisories } from "./check-advisories.ts";
import { findVersionFaults } from "./check-versions.ts";
import { ROOT } from "./pack-packages.ts";
import { isReplaceable } from "./write-provenance.ts";

const OWN_FOLDER = join(ROOT, "dist");

const { values } = parseArgs({
  options: {
    out: { type: "string", default: OWN_FOLDER },
    check: { type: "boolean", default: false },
    only: { type: "string", default: "" },
    "without-advisories": { type: "boolean", default: false },
  },
});
const out = resolve(values.out);
stopOnOtherFiles();
stopOnVersionFaults();
if (values["without-advisories"]) console.warn("warning: this release is not checked against published advisories");
else await stopOnAdvisories();
for (const sentence of ageOfPins(imagePins(), new Date())) console.warn(sentence);
const { buildRelease } = await import("./build-release.ts");
const release = await buildRelease(out);
for (const file of globSync("*", { cwd: release.folder }).sort()) console.log(join(values.out, file));
if (values.check) {
  const { checkRelease } = await import("./check/check-release.ts");
  if (!(await checkRelease(release, values.only))) process.exitCode = 1;
}

/** The folder is replaced as a whole. */
function stopOnOtherFiles(): void {
  if (out === OWN_FOLDER || isReplaceable(out)) return;
  console.error(`error: ${out} has other files than a release. Name an empty folder, or delete it.`);
  process.exit(1);
}

function stopOnVersionFaults(): void {
  const faults = findVersionFaults();
  if (faults.length === 0) return;
  console.error(["error: the release was not built, because its version is not settled:", ...faults.map((text) => `  ${text}`)].join("\n"));
  process.exit(1);
}

async function stopOnAdvisories(): Promise<void> {
  const found = await findAdvisories();
  if (found.length === 0) return;
  const advice = "Update the dependencies, or build with --without-advisories once each was judged (docs/explanation/security.md).";
  console.error(
    ["error: the release was not built, because of published advisories:", ...found.map((text) => `  ${text}`), advice].join("\n"),
  );
  process.exit(1);
}
