import assert from "node:assert/strict";
import { test } from "node:test";
import { GROUPS, ROWS } from "../commands.ts";
import { CommandFault } from "./command-fault.ts";
import { type CommandRow, exitsOf } from "./command-row.ts";
import { commandHelp, overview } from "./help.ts";
import { readOptions } from "./read-options.ts";

const OWN = ROWS.filter(({ settings }) => !settings);

function rowOf(...words: string[]): CommandRow {
  const row = ROWS.find((candidate) => candidate.words.join(" ") === words.join(" "));
  assert.ok(row, words.join(" "));
  return row;
}

function faultOf(words: string[], ...argv: string[]): string {
  try {
    readOptions(rowOf(...words), argv, {});
    return "";
  } catch (error) {
    assert.ok(error instanceof CommandFault);
    return error.lines[0] ?? "";
  }
}

/** What a shell makes of a command in an example. */
function shellWords(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, word]) => double ?? single ?? word ?? "");
}

const PLAN = ["webhooks", "plan"];

test("defaults, variables, flags: the later wins", () => {
  const read = (argv: string[], variables: Record<string, string>) => {
    const { dir, url, apiKey, env, prune } = readOptions(rowOf(...PLAN), argv, variables).options as Record<string, unknown>;
    return [dir, url, apiKey, env, prune];
  };
  assert.deepEqual(read([], {}), ["webhooks", "http://localhost:8288", null, null, false]);
  const variables = { INLET_BASE_URL: "https://a", INLET_API_KEY: " key\n", INLET_ENV: "" };
  assert.deepEqual(read([], variables), ["webhooks", "https://a", "key", null, false]);
  const flags = ["--url=https://b", "--env", "feature/cart", "--prune"];
  assert.deepEqual(read(flags, variables), ["webhooks", "https://b", "key", "feature/cart", true]);
});

test("mistakes are named", () => {
  assert.match(faultOf(PLAN, "--nonsense"), /Unknown option '--nonsense'\.$/);
  assert.match(faultOf(PLAN, "--force"), /Unknown option '--force'/, "a flag of another command");
  assert.match(faultOf(PLAN, "--url"), /argument missing/);
  const dashed = (flag: string, written: string) => `the value of ${flag} is missing; if it begins with a dash, write ${written}.`;
  assert.equal(faultOf(["events", "list"], "--limit", "-1"), dashed("--limit", "--limit=-1"));
  assert.equal(faultOf(PLAN, "--api-key", "-hunter2"), dashed("--api-key", "--api-key=…"), "a secret is not repeated");
  assert.equal(faultOf(PLAN, "--env", ""), "--env is empty.");
  assert.equal(faultOf(["runs", "cancel"], "--status", "queued", "--function= "), "--function is empty.");
  assert.match(faultOf(PLAN, "stripe"), /"stripe" is an extra argument/);
  assert.match(faultOf(["webhooks", "new"], "a", "b"), /"b" is an extra argument/);
  assert.match(faultOf(["completion"], "tcsh"), /^"tcsh" is not one of bash, zsh, fish\.$/);
  assert.match(faultOf(PLAN, "--url", "localhost:8288"), /is not a URL/);
  assert.match(faultOf(PLAN, "--env", "a b"), /is not a valid environment name/);
  assert.equal(faultOf(PLAN, "--api-key", "hunter 2"), "the API key contains invalid characters.", "a secret is not repeated");
});

test("the commands of a group stand together, as in the reference", () => {
  const firsts = ROWS.map(({ words }) => words[0]);
  const begun = firsts.filter((word, at) => word !== firsts[at - 1]);
  assert.deepEqual(begun, [...new Set(begun)]);
});

test("help shows every command, flag, variable and exit code", () => {
  const all = overview(ROWS, GROUPS);
  for (const row of ROWS) assert.match(all, new RegExp(`^ +inlet ${row.words[0]} `, "m"));
  for (const row of OWN) {
    const help = commandHelp(row);
    for (const [name, { sentence, variable }] of Object.entries(row.flags)) {
      assert.ok(help.includes(`--${name}`) && help.includes(sentence), `${row.words} ${name}`);
      if (variable) assert.ok(help.includes(variable), `${row.words} ${variable}`);
    }
    for (const [code, meaning] of exitsOf(row)) assert.ok(help.includes(`  ${code}  ${meaning}`), `${row.words} ${code}`);
  }
});

test("help names both variables of the event key", () => {
  for (const words of [["send"], ["doctor"]])
    assert.match(commandHelp(rowOf(...words)), /--key <key> .*SERVICE_EVENT_KEY.*INLET_EVENT_KEY/);
});

test("every example of the help is a command that can be read", () => {
  for (const row of OWN) {
    assert.ok(row.examples.length > 0, row.words.join(" "));
    for (const [text] of row.examples) {
      const words = shellWords(text.replace(/ [|<>] ?\S.*$/, ""));
      const argv = words.slice(words.indexOf("inlet") + 1);
      assert.deepEqual(argv.slice(0, row.words.length), row.words, text);
      readOptions(row, argv.slice(row.words.length), {});
    }
  }
});

test("every command has words of its own, and every group a command", () => {
  const words = ROWS.map((row) => row.words.join(" "));
  assert.equal(new Set(words).size, words.length);
  for (const { word } of GROUPS)
    assert.ok(
      ROWS.some((row) => row.words[0] === word && row.words.length > 1),
      word,
    );
});
