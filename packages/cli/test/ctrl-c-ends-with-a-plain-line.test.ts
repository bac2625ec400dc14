/** Ctrl-C in a terminal: the service says in words that it stops, not as a record of a log, and ends in order. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { onEnd } from "../../server/test/support/on-end.ts";
import { BARE_ENVIRONMENT, INLET_BIN, INLET_NODE } from "../../server/test/support/process.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";

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
