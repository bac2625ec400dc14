/** Commands, scripts, pages and headings that the README, the guides, the examples and the packages' READMEs name exist. */

import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { readConfig } from "@inlet/server";
import { flagOf, SETTINGS, type SettingName } from "../../server/src/config/settings.ts";
import { readOptions } from "../src/command-line/read-options.ts";
import { GROUPS, ROWS } from "../src/commands.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PAGES = ["README.md", ...globSync(["docs/**/*.md", "examples/**/README.md", "packages/*/README.md"], { cwd: ROOT })];
const read = (page: string) => readFileSync(join(ROOT, page), "utf8");

/** A prompt or a CI step, variables, a way to call the command, its arguments, and a comment, a pipe or a file after it. */
const COMMAND = /^(?:[$#] |\s*- run: )?(?:[A-Z_]+=\S+ )*(?:inlet|npx @inlet\/cli|docker (?:compose .*)?run .* inlet) (.*?)(?:\s+[#|>].*)?$/;

/** The commands of a page's blocks, as arguments of `inlet`. Variables have the value x. */
function commandsOf(page: string): string[][] {
  const words = linesOf(page).flatMap((line) => COMMAND.exec(line)?.[1] ?? []);
  return words.map((text) => (text.match(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g) ?? []).map(asArgument));
}

/** The lines of a page's blocks; a long command is one line. */
function linesOf(page: string): string[] {
  const blocks = [...read(page).matchAll(/^```(?:sh|console|powershell|yaml)\n([\s\S]*?)^```$/gm)];
  return blocks.flatMap(([, body = ""]) => body.replace(/\\\n\s*/g, "").split("\n"));
}

function asArgument(word: string): string {
  return word.replace(/^['"]|['"]$/g, "").replace(/\$\{?\w+\}?/g, "x");
}

test("every command is one that there is, with flags and values that it takes", () => {
  const commands = PAGES.flatMap((page) => commandsOf(page).map((argv) => ({ page, argv })));
  assert.ok(commands.length > 40, `${commands.length} commands were found`);
  for (const { page, argv } of commands.filter(({ argv: [word = ""] }) => !word.startsWith("--"))) {
    const message = `${page}: inlet ${argv.join(" ")}`;
    const row = ROWS.find(({ words }) => words.every((word, i) => argv[i] === word)) ?? assert.fail(message);
    const rest = argv.slice(row.words.length).filter((word) => word !== "--ephemeral" && word !== "--help");
    assert.doesNotThrow(() => (row.settings ? readConfig(row.settings, rest, {}) : readOptions(row, rest, {})), message);
  }
});

test("every script of npm is one that there is, and every benchmark", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const lines = PAGES.flatMap((page) => linesOf(page).map((line) => ({ page, line })));
  const named = lines.flatMap(({ page, line }) => {
    const [, name, workspace] = /\bnpm (?:--prefix "\$INLET" )?run ([\w:]+)(?: -w (\S+))?/.exec(line) ?? [];
    return name === undefined ? [] : [{ page, line, name, workspace }];
  });
  assert.ok(named.length > 10, `${named.length} scripts were found`);
  for (const { page, line, name, workspace } of named) {
    const known = workspace === undefined ? scripts : JSON.parse(read(`${workspace}/package.json`)).scripts;
    assert.ok(known[name] !== undefined, `${page}: ${line}`);
    const [, benchmark] = /npm run bench -- (\w+)/.exec(line) ?? [];
    if (benchmark) assert.match(read("bench/main.ts"), new RegExp(`\\b${benchmark}\\b`), `${page}: ${line}`);
  }
});

test("every command named in a sentence is one that there is", () => {
  const commands = PAGES.flatMap((page) =>
    [
      ...read(page)
        .replace(/^```[\s\S]*?^```$/gm, "")
        .matchAll(/`inlet ([a-z][^`]*)`/g),
    ].map(([, text = ""]) => ({ page, text })),
  );
  assert.ok(commands.length > 40, `${commands.length} commands were found`);
  for (const { page, text } of commands) {
    const argv = (text.match(/(?:'[^']*'|"[^"]*"|<[^>]*>|[^\s'"])+/g) ?? []).map((word) => asArgument(word.replace(/^<.*>$/, "x")));
    const isKnown =
      ROWS.some(({ words }) => words.every((word, i) => argv[i] === word)) ||
      GROUPS.some(({ word }) => word === argv[0] && argv.length === 1);
    assert.ok(isKnown, `${page}: inlet ${text}`);
  }
});

/** Flags of Docker and Helm. */
const FLAGS_OF_OTHERS = ["--build-arg", "--set"];

test("every flag named in a sentence is one that there is, of the command with which it is named", () => {
  const ofSettings = (Object.keys(SETTINGS) as SettingName[]).map(flagOf);
  const ofRow = ({ flags, settings }: (typeof ROWS)[number]) => [
    ...Object.keys(flags).map((name) => `--${name}`),
    ...(settings ? [...ofSettings, "--ephemeral"] : []),
    ...["--help", "--json"],
  ];
  const ofAny = new Set([...ROWS.flatMap(ofRow), "--version", ...FLAGS_OF_OTHERS]);
  let flagsFound = 0;
  for (const page of PAGES) {
    const named = read(page)
      .replace(/^```[\s\S]*?^```$/gm, "")
      .matchAll(/`((?:inlet [a-z]|--[a-z])[^`]*)`/g);
    for (const [, text = ""] of named) {
      const [, ...argv] = text.split(/\s+/);
      const row = text.startsWith("inlet ") ? ROWS.find(({ words }) => words.every((word, i) => argv[i] === word)) : undefined;
      const known = row ? new Set(ofRow(row)) : ofAny;
      for (const [flag] of text.matchAll(/(?<![\w-])--[a-z][\w-]*/g)) {
        flagsFound++;
        assert.ok(known.has(flag), `${page}: ${text}`);
      }
    }
  }
  assert.ok(flagsFound > 300, `${flagsFound} flags were found`);
});

test("every link leads to a file, and to a heading of it", () => {
  for (const page of PAGES) {
    for (const [, path = "", anchor] of read(page).matchAll(/\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
      const target = path === "" ? page : join(dirname(page), path);
      assert.ok(existsSync(join(ROOT, target)), `${page}: ${path}`);
      if (anchor !== undefined) assert.ok(anchorsOf(target).includes(anchor), `${page}: ${path}#${anchor}`);
    }
  }
});

/** As GitHub makes them from headings. */
function anchorsOf(page: string): string[] {
  return [...read(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}
