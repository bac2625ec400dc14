import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { ROWS } from "../src/commands.ts";
import { withSettings } from "../src/completion/print-completion.ts";
import { workingFolder } from "./support/working-folder.ts";

const has = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

/** What bash offers for the last of these words. */
function bashOffers(script: string, ...words: string[]): string[] {
  const list = words.map((word) => `'${word}'`).join(" ");
  const code = `${script}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _inlet; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", code], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return stdout.split("\n").filter(Boolean);
}

test("bash: commands, their commands, flags and values", async (t) => {
  const { code, stdout: script } = await workingFolder(t).inlet(["completion", "bash"]);
  assert.equal(code, 0);
  assert.deepEqual(bashOffers(script, "inlet", "ev"), ["events"]);
  assert.deepEqual(bashOffers(script, "inlet", "events", ""), ["list", "get", "tail", "--help"]);
  assert.deepEqual(bashOffers(script, "inlet", "events", "list", "--na"), ["--name"]);
  assert.deepEqual(bashOffers(script, "inlet", "events", "list", "--name", "x", "--sou"), ["--source"]);
  assert.deepEqual(bashOffers(script, "inlet", "env", "create", "x", "--kind", ""), ["branch", "custom"]);
  assert.deepEqual(bashOffers(script, "inlet", "send", "--key", ""), [], "a secret is not for guessing");
  assert.deepEqual(bashOffers(script, "inlet", "dev", "--eph"), ["--ephemeral"]);
  assert.deepEqual(bashOffers(script, "inlet", "start", "--data"), ["--data-dir", "--database-url", "--database-connections"]);
  assert.deepEqual(bashOffers(script, "inlet", "completion", "z"), ["zsh"]);
  for (const row of ROWS.map(withSettings)) {
    const offered = bashOffers(script, "inlet", ...row.words, "--");
    assert.deepEqual(offered, [...Object.keys(row.flags).map((name) => `--${name}`), "--help"], row.words.join(" "));
  }
});

for (const shell of ["zsh", "fish"]) {
  test(`${shell}: every command and flag with its sentence`, async (t) => {
    const { stdout: script } = await workingFolder(t).inlet(["completion", shell]);
    for (const row of ROWS.map(withSettings)) {
      assert.ok(script.includes(row.words.at(-1) as string));
      for (const [name, { sentence }] of Object.entries(row.flags)) {
        const plain = sentence.replaceAll("'", shell === "zsh" ? "'\\''" : "\\'");
        assert.ok(script.includes(shell === "zsh" ? `--${name}:${plain}` : `-l ${name}`) && script.includes(plain), `${row.words} ${name}`);
      }
    }
  });

  test(`${shell}: the script parses`, { skip: has(shell) ? false : `${shell} is not installed here` }, async (t) => {
    const { stdout: script } = await workingFolder(t).inlet(["completion", shell]);
    const { status, stderr } = spawnSync(shell, shell === "zsh" ? ["-n"] : ["--no-execute"], { input: script, encoding: "utf8" });
    assert.deepEqual([status, stderr], [0, ""]);
  });
}

test("a shell it does not know", async (t) => {
  const { code, stderr } = await workingFolder(t).inlet(["completion", "tcsh"]);
  assert.deepEqual([code, /must be one of bash, zsh, fish, not "tcsh"/.test(stderr)], [2, true]);
});
