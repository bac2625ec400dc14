/**
 * Ctrl-C in a terminal: the service says in words that it stops, not as a record of a log, and ends in order. A command that follows something
 * ends at once, also during a request.
 */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { onEnd } from "../../server/test/support/on-end.ts";
import { BARE_ENVIRONMENT, INLET_BIN, INLET_NODE, spawnInlet } from "../../server/test/support/process.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { followJob } from "../src/jobs/watch-job.ts";
import { timeLimits } from "./support/time-limits.ts";

/** `script` of util-linux gives a command a terminal. */
const hasScript = spawnSync("script", ["--version"]).stdout?.toString().includes("util-linux") ?? false;

for (const mode of ["start", "dev"]) {
  test(`${mode}: Ctrl-C prints a line of words`, { skip: hasScript ? false : "script of util-linux is not installed here" }, async (t) => {
    const words = [INLET_NODE, INLET_BIN, mode, "--port", "0", "--host", "127.0.0.1", "--data-dir", temporaryFolder(t)];
    const terminal = spawn("script", ["-qefc", `exec ${words.map((word) => `'${word}'`).join(" ")}`, "/dev/null"], {
      env: BARE_ENVIRONMENT,
    });
    onEnd(t, () => void terminal.kill("SIGKILL"));
    let shown = "";
    const listening = new Promise<void>((resolve, reject) => {
      terminal.stdout.on("data", (chunk: Buffer) => {
        shown += chunk;
        if (/listening on http/.test(shown)) resolve();
      });
      terminal.once("close", () => reject(new Error(`it ended before it listened: ${shown}`)));
    });
    await listening;
    terminal.stdin.write("\u0003");
    const [code] = (await once(terminal, "close")) as [number];
    assert.equal(code, 0, shown);
    assert.match(shown, /stopping: waiting for requests in flight/);
    assert.doesNotMatch(shown, /^\s*\{"/m, "no JSON records in a terminal");
  });
}

for (const what of ["jobs", "runs"]) {
  test(`inlet ${what} watch: Ctrl-C during a request ends it as documented`, async (t) => {
    const { url, asked } = await silentService(t);
    const command = spawnInlet(t, [what, "watch", "an-id", "--url", url]);
    const exited = once(command.child, "exit");
    await asked;
    command.child.kill("SIGINT");
    assert.deepEqual(await exited, [0, null], command.stderr());
  });
}

test("the last known state is reported after Ctrl-C during a request", { timeout: 60_000 }, async (t) => {
  // No request ends by its own time limit.
  timeLimits(t);
  const job = { id: "job", status: "running", total: 2, done: 1, failed: 0, endedAt: null };
  const { url, asked } = await silentService(t, (response) => response.end(JSON.stringify({ data: job })));
  const pressed = new AbortController();
  const following = followJob({ url, apiKey: null, env: null }, "job", { err: process.stderr, interrupted: () => pressed.signal });
  await asked;
  pressed.abort();
  assert.deepEqual(await following, job);
});

/** Answers the first request if told how, and no other. `asked`: it has got one that it does not answer. */
async function silentService(t: TestContext, answerFirst: ((response: ServerResponse) => void) | null = null) {
  let answer = answerFirst;
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    if (!answer) return resolve();
    answer(response);
    answer = null;
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onEnd(t, () => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}
