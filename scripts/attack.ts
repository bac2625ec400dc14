/**
 * Attacks local services, on loopback ports, with everything that docs/explanation/security.md lists, then exits: the
 * exploits once, and the seeded parts (HTTP, REST, frames, the sandbox, schemas, archived files) in rounds until the time limit.
 */

import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";
import { endWithUsage, readFlags } from "./read-flags.ts";
import { provenBy } from "./security-tests.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Tests that run for a given time. */
const SEEDED = [
  "packages/server/test/a-damaged-archive-does-no-harm.test.ts",
  "packages/server/test/engines-answer-alike.test.ts",
  "packages/server/test/faults-stay-in-their-connection.test.ts",
  "packages/server/test/hostile-requests-reach-nothing.test.ts",
  "packages/server/test/http-is-read-as-node-reads-it.test.ts",
  "packages/server/test/no-request-is-answered-with-500.test.ts",
  "packages/server/test/requests-leave-nothing-to-the-next.test.ts",
  "packages/server/test/schemas-are-cheap-for-every-event.test.ts",
];
const CONCURRENCY = 2;
const EXPLOIT_TIMEOUT_MS = 300_000;
/** Extra time to finish a round. */
const GRACE_MS = 120_000;

const USAGE = `Usage: npm run attack -- [flags]

  --minutes <n>  how long the seeded attacks take, with the exploits before them (5)
  --seed <n>     their seed, of at most nine digits (a new one)`;

const values = readFlags(USAGE, { minutes: { type: "string", default: "5" }, seed: { type: "string" } });
const durationMs = Number(values.minutes) * 60_000;
const seed = values.seed ?? String(Date.now() % 1_000_000);
if (!Number.isFinite(durationMs) || durationMs <= 0) endWithUsage("--minutes must be a number above 0", USAGE);
if (!/^\d{1,9}$/.test(seed)) endWithUsage("--seed must be a number of at most nine digits", USAGE);

console.log(`attacking for ${values.minutes} minutes with the seed ${seed}`);
const begun = Date.now();
await attack(
  provenBy().filter((file) => !SEEDED.includes(file)),
  {},
  EXPLOIT_TIMEOUT_MS,
);
const leftMs = Math.max(durationMs - (Date.now() - begun), 1_000);
await attack(SEEDED, { ATTACK_SEED: seed, ATTACK_MS: String(leftMs) }, leftMs + GRACE_MS);

function attack(files: string[], variables: Record<string, string>, timeout: number): Promise<void> {
  const tests = run({ files, cwd: ROOT, env: { ...process.env, ...variables }, concurrency: CONCURRENCY, timeout });
  tests.on("test:fail", () => {
    process.exitCode = 1;
  });
  tests.compose(spec).pipe(process.stdout, { end: false });
  return new Promise((resolve) => tests.once("end", resolve));
}
