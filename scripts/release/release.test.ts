/** A release is complete and says what is in it. Installing it from the registry is `npm run release -- --check`. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import type { Release } from "./build-release.ts";
import { ROOT, readManifest } from "./pack-packages.ts";
import { releaseUnderTest } from "./release-under-test.ts";

let release: Release;

before(async () => {
  release = await releaseUnderTest();
});

function read(file: string): string {
  return readFileSync(join(release.folder, file), "utf8");
}

function filesOf(tarball: string): string[] {
  return execFileSync("tar", ["-tzf", tarball], { encoding: "utf8" }).trim().split("\n");
}

test("every file has its checksum, and the checksums are right", () => {
  const sums = new Map(
    read("SHA256SUMS")
      .trim()
      .split("\n")
      .map((line) => line.split("  ").reverse() as [string, string]),
  );
  const files = globSync(["**/*", "**/.*"], { cwd: release.folder, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((entry) => join(entry.parentPath, entry.name).slice(release.folder.length + 1));
  assert.deepEqual([...sums.keys()].sort(), names.filter((name) => name !== "SHA256SUMS").sort());
  for (const [name, sum] of sums)
    assert.equal(
      createHash("sha256")
        .update(readFileSync(join(release.folder, name)))
        .digest("hex"),
      sum,
      name,
    );
});

test("the packages have what users need and nothing else", () => {
  const [cli, sdk] = [filesOf(release.cli), filesOf(release.sdk)];
  for (const file of ["bin/inlet.js", "README.md", "LICENSE", "dist/dashboard/dist/index.html", "dist/cli/src/main.js"])
    assert.ok(cli.includes(`package/${file}`), file);
  const pages = globSync("docs/**/*.md", { cwd: ROOT });
  for (const file of [...pages, "docs/screenshots/event-light.png"]) assert.ok(cli.includes(`package/${file}`), file);
  assert.ok(!cli.includes("package/docs/screenshots/event-dark.png"), "images that no page shows stay away");
  for (const file of ["index.js", "index.d.ts", "node.js", "testing.js", "README.md", "LICENSE"])
    assert.ok(sdk.includes(`package/${file}`), file);
  for (const file of startedFiles()) assert.ok(cli.includes(`package/dist/${file}`), file);
  assert.deepEqual(
    [...cli, ...sdk].filter((file) => /\.test\.|\/test\/|(?<!\.d)\.tsx?$/.test(file)),
    [],
  );
});

/** Threads and processes of the service: no import leads to their files. */
function startedFiles(): string[] {
  const sources = globSync("server/src/**/*.ts", { cwd: join(ROOT, "packages") }).filter((file) => !/\.test\.ts$/.test(file));
  const started = sources.flatMap((file) =>
    [...readFileSync(join(ROOT, "packages", file), "utf8").matchAll(/(?:new Worker|fork)\(new URL\("(\.[^"]+)\.ts"/g)].map(
      ([, path = ""]) => join(file, "..", `${path}.js`),
    ),
  );
  assert.ok(started.length >= 3, String(started));
  return started;
}

test("the SBOM names every package that is shipped or depended on, with version, hash and licence", () => {
  const { bomFormat, components, metadata } = JSON.parse(read("sbom.cdx.json")) as {
    bomFormat: string;
    metadata: { component: { name: string; version: string } };
    components: { name: string; version: string; licenses?: unknown[]; hashes?: unknown[] }[];
  };
  const { version, dependencies = {} } = readManifest("packages/cli");
  assert.deepEqual([bomFormat, metadata.component.name, metadata.component.version], ["CycloneDX", "inlet", version]);
  const named = new Set(components.map(({ name }) => name));
  const bundled = ["react", "react-dom", "@tanstack/react-router", "@codemirror/view", "uplot"];
  for (const name of [...Object.keys(dependencies), ...bundled, "fast-uri", "pg-pool"]) assert.ok(named.has(name), name);
  for (const name of ["typescript", "vite", "@biomejs/biome", "inngest"]) assert.ok(!named.has(name), name);
  for (const { name, licenses, hashes } of components) assert.ok(licenses?.length && hashes?.length, name);
});

test("the provenance names the files, the commit and the toolchain", () => {
  const { subject, predicate } = JSON.parse(read("provenance.json"));
  assert.ok(subject.some(({ name }: { name: string }) => name === release.cli.slice(release.folder.length + 1)));
  assert.equal(predicate.runDetails.builder.version.node, process.versions.node);
  const { stdout, status } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: ROOT, encoding: "utf8" });
  if (status === 0) assert.equal(predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit, stdout.trim());
});

test("the image context locks the version and hash of everything it installs", () => {
  const { packages } = JSON.parse(read("image/package-lock.json")) as { packages: Record<string, { version: string; integrity?: string }> };
  const { packages: ours } = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as { packages: typeof packages };
  const { "": _root, "node_modules/@inlet/cli": cli, ...others } = packages;
  const tarball = readFileSync(join(release.folder, "image/inlet-cli.tgz"));
  assert.equal(cli?.integrity, `sha512-${createHash("sha512").update(tarball).digest("base64")}`);
  for (const name of Object.keys(readManifest("packages/cli").dependencies ?? {})) assert.ok(others[`node_modules/${name}`], name);
  for (const [path, { version, integrity }] of Object.entries(others)) {
    assert.ok(integrity, path);
    assert.equal(version, ours[path]?.version, path);
  }
});

test("the OpenAPI file is the document of the service", () => {
  const { openapi, paths } = JSON.parse(read("openapi.json"));
  assert.match(openapi, /^3\.1/);
  assert.ok(paths["/v1/events"]);
});
