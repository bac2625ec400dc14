import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { BARE_ENVIRONMENT, INLET_BIN, INLET_NODE } from "../../server/test/support/process.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";

const ESCAPE = "\x1b[";
/** A command that colours its output and needs no service. */
const ARGV = ["doctor", "--url", "http://127.0.0.1:9", "--port", "0"];

/** `script` of util-linux runs a command on a terminal of its own. */
const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

function onTerminal(cwd: string, variables: Record<string, string>): string {
  const command = [INLET_NODE, INLET_BIN, ...ARGV].join(" ");
  const env = { ...BARE_ENVIRONMENT, TERM: "xterm-256color", ...variables };
  return spawnSync("script", ["-qc", command, "/dev/null"], { cwd, env, encoding: "utf8" }).stdout;
}

test("on a terminal there are colours, with NO_COLOR there are none", { skip: hasScript ? false : "there is no script(1) here" }, (t) => {
  const folder = temporaryFolder(t);
  const coloured = onTerminal(folder, {});
  assert.ok(coloured.includes(`${ESCAPE}32mok`), coloured);
  const plain = onTerminal(folder, { NO_COLOR: "1" });
  assert.ok(plain.includes("ok       node") && !plain.includes(ESCAPE), plain);
});

test("where the output goes elsewhere there are none", (t) => {
  const { stdout } = spawnSync(INLET_NODE, [INLET_BIN, ...ARGV], {
    cwd: temporaryFolder(t),
    env: BARE_ENVIRONMENT,
    encoding: "utf8",
  });
  assert.ok(stdout.includes("ok       node") && !stdout.includes(ESCAPE), stdout);
});
