/**
 * Runs all tests, or the files that are named or match a pattern. In addition to `node --test`, it saves time:
 *
 * - Test processes and their threads share a compile cache, in node_modules/.cache: a file that starts services needs less
 *   CPU time.
 * - Tests that need PostgreSQL share one server, each with its own database.
 * - The longest files start first, so that the end does not wait for one of them.
 *
 *   node scripts/run-tests.ts [pattern ...]
 */

import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { isPostgresInstalled, SHARED_POSTGRES, startPostgres } from "../packages/server/test/support/postgres-server.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ALL = ["packages/**/*.test.ts", "scripts/**/*.test.ts", "bench/**/*.test.ts"];
/** One more than the cores of a small machine: some files mostly wait. */
const CONCURRENCY = 3;
const TIMEOUT_MS = 300_000;

/** Longest first. */
const LONG = [
  "browser.test.ts",
  "simulation.test.ts",
  "shared-store.test.ts",
  // It waits for the start of a minute.
  "wrong-clocks-do-no-harm.test.ts",
  "connections-may-break-anywhere.test.ts",
  "accepted-events-survive-a-crash.test.ts",
  "postgres-may-restart.test.ts",
  "postgres-store.test.ts",
  // It waits for a lease to expire.
  "leases-are-renewed.test.ts",
  "a-node-that-was-frozen-calls-nobody.test.ts",
  // They first install packages of other languages.
  "real-python-sdk-runs-unmodified.test.ts",
  "real-go-sdk-runs-unmodified.test.ts",
  "apply-makes-the-server-match.test.ts",
  "nodes-may-be-killed.test.ts",
  "listen-misses-nothing.test.ts",
  "runs-survive-crashes.test.ts",
  "runs-survive-crashes-at-each-point.test.ts",
];

const wanted = process.argv.slice(2);
const files = globSync(wanted.length > 0 ? wanted : ALL, { cwd: ROOT, exclude: ["**/node_modules/**"] }).sort(byLength);
const postgres = isPostgresInstalled() && !process.env.TEST_DATABASE_URL ? await startPostgres({ fsync: false }) : null;
const env = {
  ...process.env,
  NODE_COMPILE_CACHE: join(ROOT, "node_modules/.cache/inlet-tests"),
  ...(postgres && { [SHARED_POSTGRES]: postgres.url }),
};

const tests = run({ files, cwd: ROOT, env, concurrency: CONCURRENCY, timeout: TIMEOUT_MS });
tests.on("test:fail", () => {
  process.exitCode = 1;
});
tests.once("end", () => postgres?.remove());
tests.compose(spec).pipe(process.stdout);

function byLength(one: string, other: string): number {
  return rank(one) - rank(other) || one.localeCompare(other);
}

function rank(file: string): number {
  const index = LONG.indexOf(basename(file));
  return index === -1 ? LONG.length : index;
}
