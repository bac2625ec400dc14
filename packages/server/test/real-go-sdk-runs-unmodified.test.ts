/**
 * Apps written with the published Go SDK run here as they are, in dev and in production, on both stores. Needs Go 1.24 or newer, and the
 * modules from their proxy or Go's own cache; the tests are skipped otherwise, and say why.
 */

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkForeignSdk } from "./support/apps/foreign-checks.ts";

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

const SDK = {
  name: "Go SDK",
  skip: whyNoGo() ?? false,
  command: [APP],
  hasSignals: true,
  expected: {
    first: "ünïcode ✓",
    sent: true,
    answer: 2,
    missed: true,
    signal: "Ada",
    invoked: { doubled: 42, user: { id: 7 } },
    fetched: 200,
  },
  doubled: { doubled: 42, user: null },
} as const;

checkForeignSdk(SDK, [
  { mode: "start", store: "sqlite", kinds: ["plain", "streaming"] },
  { mode: "start", store: "postgres", kinds: ["streaming"] },
  { mode: "dev", store: "sqlite", kinds: ["plain"] },
  { mode: "dev", store: "postgres", kinds: ["plain"] },
]);
