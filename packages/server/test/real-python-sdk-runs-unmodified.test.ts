/**
 * Apps written with the published Python SDK, on FastAPI and Flask, run here as they are, in dev and in production, on both stores. Needs
 * Python 3.10 or newer with venv, and PyPI or an environment made by an earlier run; the tests are skipped otherwise, and say why.
 */

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkForeignSdk } from "./support/apps/foreign-checks.ts";

const PACKAGES = ["inngest==0.5.19", "fastapi==0.115.12", "uvicorn==0.34.2", "flask==3.1.0"];
const INSTALL_TIMEOUT_MS = 60_000;
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
const FOLDER = join(CACHE, `python-${PACKAGES[0]}`);
const PYTHON = join(FOLDER, "bin/python");
const APP = fileURLToPath(new URL("./support/apps/python/app.py", import.meta.url));

/** Null when everything is there. */
function whyNoPython(): string | null {
  const version = spawnSync("python3", ["-c", "import sys, venv; print(sys.version_info >= (3, 10))"], { encoding: "utf8" });
  if (version.stdout?.trim() !== "True") return "there is no python3 of version 3.10 or newer with venv on this machine";
  if (existsSync(PYTHON)) return null;
  const made = `${FOLDER}.${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  spawnSync("python3", ["-m", "venv", "--without-pip", made], { timeout: INSTALL_TIMEOUT_MS });
  const [program = "", ...pip] = pipFor(join(made, "bin/python"));
  const install = ["install", "--quiet", "--no-compile", "--disable-pip-version-check", "--retries", "0", ...PACKAGES];
  const { status } = spawnSync(program, [...pip, ...install], { timeout: INSTALL_TIMEOUT_MS });
  // Its python works wherever it stands: the folder gets its name when it is complete.
  if (status === 0) renameSync(made, FOLDER);
  rmSync(made, { recursive: true, force: true });
  return status === 0 ? null : `the Python SDK could not be installed from PyPI within ${INSTALL_TIMEOUT_MS / 1_000} s`;
}

/** The command that installs into an environment: the machine's own pip if it can, since another one takes as long to install as the packages. */
function pipFor(python: string): string[] {
  const own = ["python3", "-m", "pip", "--python", python];
  if (spawnSync("python3", [...own.slice(1), "--version"]).status === 0) return own;
  spawnSync(python, ["-m", "ensurepip"], { timeout: INSTALL_TIMEOUT_MS });
  return [python, "-m", "pip"];
}

const SDK = {
  name: "Python SDK",
  skip: whyNoPython() ?? false,
  command: [PYTHON, APP],
  hasSignals: false,
  expected: {
    first: { text: "ünïcode ✓", number: 0.1 },
    ids: 1,
    answer: 2,
    missed: null,
    invoked: { doubled: 42 },
    both: ["pair", "pair"],
    inferred: "Bearer sk-secret",
  },
  doubled: { doubled: 42 },
} as const;

checkForeignSdk(SDK, [
  { mode: "start", store: "sqlite", kinds: ["fastapi", "flask"] },
  { mode: "start", store: "postgres", kinds: ["flask"] },
  { mode: "dev", store: "sqlite", kinds: ["flask"] },
  { mode: "dev", store: "postgres", kinds: ["fastapi"] },
]);
