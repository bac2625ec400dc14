import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder } from "../../server/test/support/service.ts";

const CLI = fileURLToPath(new URL("../bin/inlet.js", import.meta.url));
const ESCAPE = "\x1b[";
/** A command that colours its output and needs no service. */
const ARGV = ["doctor", "--url", "http://127.0.0.1:9", "--port", "0"];

/** `script` of util-linux runs a command on a terminal of its own. */
const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

function onTerminal(cwd: string, variables: Record<string, string>): string {
  const command = [process.execPath, CLI, ...ARGV].join(" ");
  const env = { PATH: process.env.PATH, TERM: "xterm-256color", ...variables };
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
  const { stdout } = spawnSync(process.execPath, [CLI, ...ARGV], {
    cwd: temporaryFolder(t),
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  assert.ok(stdout.includes("ok       node") && !stdout.includes(ESCAPE), stdout);
});
