/** Another commit of this repository, checked out beside this one with its dependencies, for as long as it is compared. */

import { execFileSync, spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

export interface Checkout {
  folder: string;
  /** What it is called in the table: the short name of its commit. */
  name: string;
  remove(): void;
}

export function checkOutBase(commit: string): Checkout {
  const name = git("rev-parse", "--verify", "--short", "--end-of-options", `${commit}^{commit}`);
  const parent = mkdtempSync(join(tmpdir(), "inlet-base-"));
  const folder = join(parent, "checkout");
  const remove = () => {
    spawnSync("git", ["worktree", "remove", "--force", folder], { cwd: ROOT, stdio: "ignore" });
    rmSync(parent, { recursive: true, force: true });
  };
  // However the comparison ends.
  process.once("exit", remove);
  git("worktree", "add", "--detach", "--quiet", folder, name);
  install(folder);
  return { folder, name, remove };
}

/** The name of this checkout, with a plus where it has changes that are not committed. */
export function ownName(): string {
  return `${git("rev-parse", "--short", "HEAD")}${git("status", "--porcelain") === "" ? "" : "+"}`;
}

/** Hard links where the lockfile is the same; workspaces are linked by relative paths, so each checkout finds its own packages. */
function install(folder: string): void {
  const lockfile = (root: string) => readFileSync(join(root, "package-lock.json"), "utf8");
  if (lockfile(folder) === lockfile(ROOT) && linkDependencies(folder)) return;
  console.log("installing the dependencies of the base ...");
  const flags = ["ci", "--no-audit", "--no-fund", "--loglevel=error"];
  const { status } = spawnSync("npm", flags, { cwd: folder, stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) throw new Error("npm ci failed in the base");
}

/** False where the file system or its `cp` makes no hard links. */
function linkDependencies(folder: string): boolean {
  return globSync("{,packages/*/}node_modules", { cwd: ROOT }).every(
    (modules) => spawnSync("cp", ["-al", join(ROOT, modules), join(folder, dirname(modules))], { stdio: "ignore" }).status === 0,
  );
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: ROOT, encoding: "utf8" }).trim();
}
