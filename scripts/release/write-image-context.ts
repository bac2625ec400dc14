/** The build context of the container image: the Dockerfile, the package, and a lockfile that names every version and hash. */

import { createHash } from "node:crypto";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { lockDependencies } from "./lock-dependencies.ts";
import { ROOT, readManifest } from "./pack-packages.ts";

const FILES = ["Dockerfile", ".dockerignore", "health-check.mjs"];

export async function writeImageContext(folder: string, tarball: string): Promise<void> {
  const { version, license, dependencies, bin, engines } = readManifest("packages/cli");
  const file = "inlet-cli.tgz";
  const integrity = `sha512-${createHash("sha512").update(readFileSync(tarball)).digest("base64")}`;
  await lockDependencies(folder, {
    manifest: { name: "inlet-image", version, dependencies: { "@inlet/cli": `file:${file}` } },
    extra: { "node_modules/@inlet/cli": { version, resolved: `file:${file}`, integrity, license, dependencies, bin, engines } },
  });
  cpSync(tarball, join(folder, file));
  for (const name of FILES) cpSync(join(ROOT, "deploy/image", name), join(folder, name));
}
