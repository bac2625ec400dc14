/**
 * Apps written with the published Go SDK run here as they are. Needs Go 1.24 or newer, and the modules from their proxy or Go's own cache; the
 * tests are skipped otherwise, and say why.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { syncApp } from "./support/apps/app-server.ts";
import { startForeignApp } from "./support/apps/foreign-app.ts";
import { checkFailures, runEverything } from "./support/apps/foreign-checks.ts";
import { EVENT_KEY, SIGNING_KEY, startTestService } from "./support/service.ts";

const BUILD_TIMEOUT_MS = 60_000;
const FOLDER = fileURLToPath(new URL("./support/apps/go/", import.meta.url));
const CACHE = fileURLToPath(new URL("../../../node_modules/.cache/", import.meta.url));
const APP = join(CACHE, "go-sdk-app");

/** Null when the app is built. Go builds only what has changed since the last time. */
function whyNoGo(): string | null {
  const [, major = 0, minor = 0] = /go(\d+)\.(\d+)/.exec(spawnSync("go", ["version"], { encoding: "utf8" }).stdout ?? "") ?? [];
  if (Number(major) < 1 || (Number(major) === 1 && Number(minor) < 24)) return "there is no go of version 1.24 or newer on this machine";
  mkdirSync(CACHE, { recursive: true });
  const env = { ...process.env, GOFLAGS: "-mod=readonly -buildvcs=false" };
  const built = spawnSync("go", ["build", "-o", APP, "."], { cwd: FOLDER, env, encoding: "utf8", timeout: BUILD_TIMEOUT_MS });
  if (built.status === 0) return null;
  if (built.status === null) return `the Go SDK could not be fetched and built within ${BUILD_TIMEOUT_MS / 1_000} s`;
  // An app that does not compile is a fault; modules that cannot be fetched are not.
  if (/dial tcp|no such host|i\/o timeout|TLS handshake|connection refused|proxyconnect/.test(built.stderr))
    return "the module proxy of Go cannot be reached";
  throw new Error(built.stderr);
}

const skip = whyNoGo() ?? false;
const EXPECTED = {
  ...{ first: "ünïcode ✓", sent: true, answer: 2, missed: true, signal: "Ada" },
  ...{ invoked: { doubled: 42, user: { id: 7 } }, fetched: 200 },
};

for (const [mode, streams] of [
  ["dev", false],
  ["start", false],
  ["start", true],
] as const) {
  test(`Go SDK, ${mode}${streams ? ", streaming" : ""}`, { skip }, async (t) => {
    const service = await startTestService(t, { mode, flags: ["--retry-interval", "50ms"] });
    const signing: Record<string, string> = mode === "start" ? { APP_SIGNING_KEY: SIGNING_KEY } : {};
    const env = { APP_EVENT_KEY: EVENT_KEY, ...signing, ...(streams && { APP_STREAMS: "1" }) };
    const url = await startForeignApp(t, [APP, service.url, mode], env);
    const app = await syncApp(service, url);
    assert.deepEqual([app.name, app.functions], ["go", 4]);
    assert.deepEqual(await runEverything(t, service, "go"), EXPECTED);
    await checkFailures(service, "go");
  });
}
