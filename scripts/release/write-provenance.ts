/**
 * Where a release comes from, as an in-toto statement with a SLSA provenance: the digests of its files, the commit, and the programs
 * that built it. It is not signed: whoever publishes the files signs it, or lets the registry do so (`npm publish --provenance`).
 */

import { createHash } from "node:crypto";
import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, readManifest } from "./pack-packages.ts";
import { run } from "./run.ts";

export const CHECKSUMS = "SHA256SUMS";
const PROVENANCE = "provenance.json";

export async function writeProvenance(out: string, startedOn: Date): Promise<void> {
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: filesIn(out).map((name) => ({ name, digest: { sha256: sha256(join(out, name)) } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "npm run release",
        externalParameters: { version: readManifest("packages/cli").version },
        resolvedDependencies: [
          { name: "source", ...(await commit()) },
          { name: "package-lock.json", digest: lockDigest() },
        ],
      },
      runDetails: {
        builder: { id: "npm run release", version: await toolchain() },
        metadata: { startedOn: startedOn.toISOString(), finishedOn: new Date().toISOString() },
      },
    },
  };
  writeFileSync(join(out, PROVENANCE), `${JSON.stringify(statement, null, 2)}\n`);
}

/** In the form that `sha256sum --check` reads. */
export function writeChecksums(out: string): void {
  const lines = filesIn(out).map((name) => `${sha256(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, CHECKSUMS), lines.join(""));
}

/** Whether a folder has nothing but a release, all of whose files have their checksums, or nothing at all. */
export function isReplaceable(folder: string): boolean {
  if (!existsSync(folder)) return true;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => !entry.isDirectory());
  const names = files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  if (names.length === 0) return true;
  if (!names.includes(CHECKSUMS)) return false;
  const listed = new Set(
    readFileSync(join(folder, CHECKSUMS), "utf8")
      .split("\n")
      .map((line) => line.slice(line.indexOf("  ") + 2)),
  );
  return names.every((name) => name === CHECKSUMS || listed.has(name));
}

function filesIn(out: string): string[] {
  const entries = globSync(["**/*", "**/.*"], { cwd: out, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => join(entry.parentPath, entry.name).slice(out.length + 1)).sort();
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function lockDigest() {
  return { sha256: sha256(join(ROOT, "package-lock.json")) };
}

/** The commit, and whether the checkout differs from it. A source tree without git has none. */
async function commit() {
  try {
    const { out } = await run("git", ["rev-parse", "HEAD"], { cwd: ROOT });
    const { out: changes } = await run("git", ["status", "--porcelain"], { cwd: ROOT });
    return { digest: { gitCommit: out.trim() }, annotations: { uncommittedChanges: changes.trim() !== "" } };
  } catch {
    return { annotations: { uncommittedChanges: true } };
  }
}

async function toolchain(): Promise<Record<string, string>> {
  const { out } = await run("npm", ["--version"], { cwd: ROOT });
  return { node: process.versions.node, npm: out.trim(), typescript: readManifest("node_modules/typescript").version };
}
