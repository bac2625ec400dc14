/** Packs `@inlet/cli` and `@inlet/sdk` as they are published, from folders of their own: the checkout is left as it is. */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildCli } from "../build-package.ts";
import { QUIET_NPM, run } from "./run.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export interface Manifest {
  name: string;
  version: string;
  license?: string;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  scripts?: Record<string, string>;
  bin?: Record<string, string>;
  engines?: Record<string, string>;
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8"));
}

/** Names of the tarballs in `out`. */
export async function packPackages(out: string, work: string): Promise<{ cli: string; sdk: string }> {
  const [cli, sdk] = [join(work, "cli"), join(work, "sdk")];
  mkdirSync(cli, { recursive: true });
  buildCli(join(cli, "dist"));
  for (const name of ["bin", "README.md"]) cpSync(join(ROOT, "packages/cli", name), join(cli, name), { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(cli, "LICENSE"));
  const { scripts: _scripts, devDependencies: _devDependencies, ...manifest } = readManifest("packages/cli");
  writeFileSync(join(cli, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  await run(process.execPath, [join(ROOT, "packages/sdk/scripts/build.ts"), sdk], { cwd: ROOT });
  const env = { ...process.env, ...QUIET_NPM };
  const { out: printed } = await run("npm", ["pack", cli, sdk, "--pack-destination", out, "--silent"], { cwd: out, env });
  const [cliTarball = "", sdkTarball = ""] = printed.trim().split("\n");
  return { cli: cliTarball, sdk: sdkTarball };
}
