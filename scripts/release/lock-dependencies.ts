/**
 * Writes package.json and package-lock.json for a set of dependencies, with the versions and hashes of the repository's lockfile.
 * Needs no network: npm removes from a copy of the lockfile what the dependencies do not reach.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Manifest, ROOT } from "./pack-packages.ts";
import { QUIET_NPM, run } from "./run.ts";

export type LockEntry = Record<string, unknown> & { link?: boolean; dev?: boolean };

export interface LockRequest {
  manifest: Manifest;
  /** Packages that are not in the repository's lockfile, by their path in it. */
  extra?: Record<string, LockEntry>;
}

export async function lockDependencies(folder: string, { manifest, extra = {} }: LockRequest): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const { packages } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as { packages: Record<string, LockEntry> };
  const fromNpm = Object.entries(packages).filter(([path, { link }]) => path.startsWith("node_modules/") && !link);
  const entries = fromNpm.map(([path, { dev: _dev, ...entry }]) => [path, entry]);
  const { name, version } = manifest;
  const lock = { name, version, lockfileVersion: 3, requires: true, packages: { "": manifest, ...Object.fromEntries(entries), ...extra } };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...manifest, private: true }, null, 2)}\n`);
  writeFileSync(join(folder, "package-lock.json"), JSON.stringify(lock));
  const env = { ...process.env, ...QUIET_NPM, npm_config_omit_lockfile_registry_resolved: "true" };
  await run("npm", ["prune", "--package-lock-only", "--offline"], { cwd: folder, env });
}
