import assert from "node:assert/strict";
import { test } from "node:test";
import { CommandFault } from "./command-fault.ts";
import { COMMANDS, type CommandName, FLAGS } from "./command-table.ts";
import { helpFor, overview } from "./help.ts";
import { readOptions } from "./read-options.ts";

const names = Object.keys(COMMANDS) as CommandName[];

function faultOf(command: CommandName, ...argv: string[]): string {
  try {
    readOptions(command, argv, {});
    return "";
  } catch (error) {
    assert.ok(error instanceof CommandFault);
    return error.lines[0] ?? "";
  }
}

test("defaults, variables, flags: the later wins", () => {
  const { dir, url, apiKey, env } = readOptions("plan", [], {});
  assert.deepEqual([dir, url, apiKey, env], ["webhooks", "http://localhost:8288", null, null]);
  const variables = { SERVICE_BASE_URL: "https://a", SERVICE_API_KEY: " key\n", SERVICE_ENV: "" };
  const fromVariables = readOptions("plan", [], variables);
  assert.deepEqual([fromVariables.url, fromVariables.apiKey, fromVariables.env], ["https://a", "key", null]);
  const fromFlags = readOptions("plan", ["--url=https://b", "--env", "feature/cart", "--prune"], variables);
  assert.deepEqual([fromFlags.url, fromFlags.env, fromFlags.prune], ["https://b", "feature/cart", true]);
});

test("mistakes are named", () => {
  assert.match(faultOf("plan", "--nonsense"), /Unknown option '--nonsense'\.$/);
  assert.match(faultOf("plan", "--force"), /Unknown option '--force'/, "a flag of another command");
  assert.match(faultOf("plan", "--url"), /argument missing/);
  assert.match(faultOf("plan", "stripe"), /"stripe" is one name too many/);
  assert.match(faultOf("new", "a", "b"), /"b" is one name too many/);
  assert.match(faultOf("plan", "--url", "localhost:8288"), /is not a URL/);
  assert.match(faultOf("plan", "--env", "a b"), /is not the name of an environment/);
  assert.equal(faultOf("plan", "--api-key", "hunter 2"), "the API key has characters no key has.", "a secret is not repeated");
});

test("help shows every command, flag, variable and exit code", () => {
  for (const name of names) {
    assert.ok(overview().includes(COMMANDS[name].sentence), name);
    const help = helpFor(name);
    for (const flag of COMMANDS[name].flags)
      assert.ok(help.includes(`--${flag}`) && help.includes(FLAGS[flag].sentence), `${name} ${flag}`);
    for (const [code, meaning] of COMMANDS[name].exits) assert.match(help, new RegExp(`^ +${code} +${meaning}`, "m"));
  }
  for (const variable of ["SERVICE_BASE_URL", "SERVICE_API_KEY", "SERVICE_ENV"]) assert.ok(helpFor("plan").includes(variable));
});

test("every example of the help is a command that can be read", () => {
  for (const name of names) {
    for (const [command] of COMMANDS[name].examples) {
      const words = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "");
      const argv = words.slice(words.indexOf("inlet"));
      assert.deepEqual(argv.slice(0, 3), ["inlet", "webhooks", name]);
      readOptions(name, argv.slice(3), {});
    }
  }
});
