/**
 * Apps written with the published Python SDK, on FastAPI and Flask, run here as they are. Needs Python 3.10 or newer with venv, and PyPI or an
 * environment made by an earlier run; the tests are skipped otherwise, and say why.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { syncApp } from "./support/apps/app-server.ts";
import { startForeignApp } from "./support/apps/foreign-app.ts";
import { checkFailures, runEverything } from "./support/apps/foreign-checks.ts";
import { EVENT_KEY, SIGNING_KEY, startTestService } from "./support/service.ts";

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
  spawnSync("python3", ["-m", "venv", made], { timeout: INSTALL_TIMEOUT_MS });
  const install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "0", ...PACKAGES];
  const { status } = spawnSync(join(made, "bin/python"), install, { timeout: INSTALL_TIMEOUT_MS });
  // Its python works wherever it stands: the folder gets its name when it is complete.
  if (status === 0) renameSync(made, FOLDER);
  rmSync(made, { recursive: true, force: true });
  return status === 0 ? null : `the Python SDK could not be installed from PyPI within ${INSTALL_TIMEOUT_MS / 1_000} s`;
}

const skip = whyNoPython() ?? false;
const EXPECTED = {
  ...{ first: { text: "ünïcode ✓", number: 0.1 }, ids: 1, answer: 2, missed: null },
  ...{ invoked: { doubled: 42 }, both: ["pair", "pair"], inferred: "Bearer sk-secret" },
};

for (const [framework, mode] of [
  ["fastapi", "dev"],
  ["fastapi", "start"],
  ["flask", "start"],
] as const) {
  test(`Python SDK on ${framework}, ${mode}`, { skip }, async (t) => {
    const service = await startTestService(t, { mode, flags: ["--retry-interval", "50ms"] });
    const signing: Record<string, string> = mode === "start" ? { APP_SIGNING_KEY: SIGNING_KEY } : {};
    const url = await startForeignApp(t, [PYTHON, APP, framework, service.url, mode], { APP_EVENT_KEY: EVENT_KEY, ...signing });
    const app = await syncApp(service, url);
    assert.deepEqual([app.name, app.functions], ["py", 4]);
    assert.deepEqual(await runEverything(t, service, "py"), EXPECTED);
    await checkFailures(service, "py");
  });
}
