/** `npm start` and `npm run dev` end with npm: the service stops in order, however the signal reaches it. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { onEnd } from "../packages/server/test/support/on-end.ts";
import { BARE_ENVIRONMENT } from "../packages/server/test/support/process.ts";
import { temporaryFolder } from "../packages/server/test/support/service.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Longer than a changed parent process takes to be noticed: a second signal would end the service before the delay is over. */
const DRAIN_DELAY_MS = 2_000;
const STOPPING = /stopping: waiting for requests in flight/;

/** npm in a process group of its own, once the service listens. */
async function startByNpm(t: TestContext, script: string): Promise<{ pid: number; ended: Promise<string> }> {
  const flags = ["--port", "0", "--host", "127.0.0.1", "--data-dir", temporaryFolder(t), "--drain-delay", `${DRAIN_DELAY_MS}ms`];
  const npm = spawn("npm", ["run", script, "--ignore-scripts", "--", ...flags], {
    cwd: ROOT,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...BARE_ENVIRONMENT, INLET_DISCOVER: "off", INLET_LOG_LEVEL: "info" },
  });
  const pid = npm.pid as number;
  let printed = "";
  const listening = new Promise<void>((resolve, reject) => {
    for (const output of [npm.stdout, npm.stderr])
      output.on("data", (chunk) => {
        printed += chunk;
        if (/^listening on /m.test(printed)) resolve();
      });
    npm.once("close", () => reject(new Error(printed)));
  });
  onEnd(t, () => {
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // The group has ended.
    }
  });
  // The output is closed when the last process that may write to it has ended.
  const ended = once(npm, "close").then(() => printed);
  await listening;
  return { pid, ended };
}

/** A service that drains goes on for the whole delay. */
async function drains(t: TestContext, script: string, stop: (npm: number) => void): Promise<void> {
  const { pid, ended } = await startByNpm(t, script);
  const stoppedAt = performance.now();
  stop(pid);
  assert.match(await ended, STOPPING);
  assert.ok(performance.now() - stoppedAt >= DRAIN_DELAY_MS, "it ended in order");
}

for (const script of ["start", "dev"])
  test(`npm run ${script}: a signal to npm alone stops the service`, { timeout: 120_000 }, (t) =>
    drains(t, script, (npm) => process.kill(npm, "SIGTERM")),
  );

for (const signal of ["SIGTERM", "SIGINT"])
  test(`${signal} to the whole process group stops the service in order`, { timeout: 120_000 }, (t) =>
    drains(t, "start", (npm) => process.kill(-npm, signal)),
  );
