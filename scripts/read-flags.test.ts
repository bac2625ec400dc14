import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMMANDS = {
  simulate: "packages/server/test/simulation/main.ts",
  attack: "scripts/attack.ts",
  soak: "scripts/soak/main.ts",
};

const run = (file: string, flag: string) => spawnSync(process.execPath, [file, flag], { cwd: ROOT, encoding: "utf8" });

for (const [name, file] of Object.entries(COMMANDS))
  test(`npm run ${name} says how it is used, and which flag it does not know`, () => {
    const help = run(file, "--help");
    assert.deepEqual([help.status, help.stderr], [0, ""]);
    assert.match(help.stdout, new RegExp(`^Usage: npm run ${name} -- `));
    const wrong = run(file, "--no-such-flag");
    assert.equal(wrong.status, 2, wrong.stderr);
    assert.match(wrong.stderr, /^error: Unknown option '--no-such-flag'.*\n\nUsage: npm run/s);
    assert.doesNotMatch(wrong.stderr, /at file:/);
  });
