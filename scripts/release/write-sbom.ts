/**
 * The bill of materials of a release, as CycloneDX, by `npm sbom`: what `@inlet/cli` depends on, and what is bundled into its
 * dashboard. `@inlet/sdk` has no dependencies.
 */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockDependencies } from "./lock-dependencies.ts";
import { ROOT, readManifest } from "./pack-packages.ts";
import { QUIET_NPM, run } from "./run.ts";

export async function writeSbom(file: string, work: string): Promise<void> {
  const folder = join(work, "sbom");
  const { version, license, dependencies } = readManifest("packages/cli");
  const manifest = { name: "inlet", version, ...(license && { license }), dependencies: { ...dependencies, ...bundledPackages() } };
  await lockDependencies(folder, { manifest });
  const env = { ...process.env, ...QUIET_NPM };
  const { out } = await run("npm", ["sbom", "--package-lock-only", "--sbom-format", "cyclonedx"], { cwd: folder, env });
  const bom = JSON.parse(out);
  // npm takes the name of the folder.
  bom.metadata.component.name = manifest.name;
  bom.metadata.component.type = "application";
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
}

/** Packages of others that the dashboard imports, which Vite puts into its files. */
function bundledPackages(): Record<string, string> {
  const { devDependencies = {} } = readManifest("packages/dashboard");
  const sources = globSync("packages/dashboard/src/**/*.{ts,tsx}", { cwd: ROOT }).filter((file) => !file.includes(".test."));
  const imported = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, file), "utf8").matchAll(/\b(?:from|import)\s*\(?"((?:@[\w-]+\/)?[\w-]+)[^"]*"/g)].map(
      ([, name = ""]) => name,
    ),
  );
  const isOthers = (name: string) => !name.startsWith("@inlet/");
  return Object.fromEntries(Object.entries(devDependencies).filter(([name]) => isOthers(name) && imported.includes(name)));
}
