import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { ROWS } from "../src/commands.ts";
import { withSettings } from "../src/completion/print-completion.ts";
import { workingFolder } from "./support/working-folder.ts";

const has = (shell: string) => spawnSync(shell, ["-c", "true"]).status === 0;

/** What bash offers for the last of the words, for each of these lists. */
function bashOffers(script: string, lists: string[][]): string[][] {
  const asked = lists.map((words) => {
    const list = words.map((word) => `'${word}'`).join(" ");
    return `COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _inlet; echo "\${COMPREPLY[@]}"`;
  });
  const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", [script, ...asked].join("\n")], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ").filter(Boolean));
}

test("bash: commands, their commands, flags and values", async (t) => {
  const { code, stdout: script } = await workingFolder(t).inlet(["completion", "bash"]);
  assert.equal(code, 0);
  const expected: [words: string[], offered: string[]][] = [
    [["ev"], ["events"]],
    [
      ["events", ""],
      ["list", "get", "tail", "--help"],
    ],
    [["events", "list", "--na"], ["--name"]],
    [["events", "list", "--name", "x", "--sou"], ["--source"]],
    [
      ["env", "create", "x", "--kind", ""],
      ["branch", "custom"],
    ],
    // A secret is not for guessing.
    [["send", "--key", ""], []],
    [["dev", "--eph"], ["--ephemeral"]],
    [["start", "--data-"], ["--data-dir"]],
    [["completion", "z"], ["zsh"]],
    ...ROWS.map(withSettings).map(({ words, flags }): [string[], string[]] => [
      [...words, "--"],
      [...Object.keys(flags).map((name) => `--${name}`), "--help"],
    ]),
  ];
  const offered = bashOffers(
    script,
    expected.map(([words]) => ["inlet", ...words]),
  );
  assert.deepEqual(
    offered.map((found, i) => [expected[i]?.[0], found]),
    expected,
  );
});

/** What zsh offers for the last of these words: its own helpers are replaced by ones that print what they are given. */
function zshOffers(script: string, ...words: string[]): string[] {
  const helpers = `compdef() { :; }
_describe() { print -l -- "\${(@P)2}"; }
_files() { print -- "(files)"; }
compadd() { shift; print -l -- "$@"; }`;
  const list = words.map((word) => `'${word}'`).join(" ");
  const code = `${helpers}\n${script}\nwords=(${list}); CURRENT=${words.length}; PREFIX='${words.at(-1)}'; _inlet`;
  const { stdout, stderr, status } = spawnSync("zsh", ["-f", "-c", code], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return offered(stdout, words.at(-1) ?? "", ":");
}

/** What fish offers, asked by its own command. */
function fishOffers(script: string, ...words: string[]): string[] {
  const code = `${script}\ncomplete -C '${words.join(" ")}'`;
  const { stdout, stderr, status } = spawnSync("fish", ["--no-config", "-c", code], { encoding: "utf8" });
  assert.deepEqual([status, stderr], [0, ""]);
  return offered(stdout, words.at(-1) ?? "", "\t");
}

/** The words of lines `word<separator>sentence` that go on from what was typed. */
function offered(lines: string, typed: string, separator: string): string[] {
  const found = lines.split("\n").map((line) => line.split(separator)[0] ?? "");
  return found.filter((word) => word !== "" && word.startsWith(typed));
}

const SHELLS = { zsh: { offers: zshOffers, quote: "'\\''" }, fish: { offers: fishOffers, quote: "\\'" } };

for (const [shell, { offers, quote }] of Object.entries(SHELLS)) {
  test(`${shell}: every command and flag with its sentence`, async (t) => {
    const { stdout: script } = await workingFolder(t).inlet(["completion", shell]);
    for (const row of ROWS.map(withSettings)) {
      assert.ok(script.includes(row.words.at(-1) as string));
      for (const [name, { sentence }] of Object.entries(row.flags)) {
        const plain = sentence.replaceAll("'", quote);
        assert.ok(script.includes(shell === "zsh" ? `--${name}:${plain}` : `-l ${name}`) && script.includes(plain), `${row.words} ${name}`);
      }
    }
  });

  test(`${shell}: commands, their commands, flags and values, by the shell itself`, {
    skip: has(shell) ? false : `${shell} is not installed here`,
  }, async (t) => {
    const { stdout: script } = await workingFolder(t).inlet(["completion", shell]);
    const all = (...words: string[]) => new Set(offers(script, ...words));
    assert.deepEqual(all("inlet", "ev"), new Set(["events"]));
    assert.deepEqual(all("inlet", "events", "l"), new Set(["list"]));
    assert.deepEqual(all("inlet", "events", "list", "--na"), new Set(["--name"]));
    assert.deepEqual(all("inlet", "events", "list", "--name", "x", "--sou"), new Set(["--source"]));
    assert.deepEqual(all("inlet", "env", "create", "x", "--kind", ""), new Set(["branch", "custom"]));
    assert.deepEqual(all("inlet", "send", "--key", ""), new Set(), "a secret is not for guessing");
    assert.deepEqual(all("inlet", "dev", "--eph"), new Set(["--ephemeral"]));
    assert.deepEqual(all("inlet", "completion", "z"), new Set(["zsh"]));
    for (const row of ROWS.map(withSettings)) {
      const flags = [...Object.keys(row.flags).map((name) => `--${name}`), "--help"];
      assert.deepEqual(all("inlet", ...row.words, "--"), new Set(flags), row.words.join(" "));
    }
  });
}

test("a shell it does not know", async (t) => {
  const { code, stderr } = await workingFolder(t).inlet(["completion", "tcsh"]);
  assert.deepEqual([code, /"tcsh" is not one of bash, zsh, fish/.test(stderr)], [2, true]);
});
