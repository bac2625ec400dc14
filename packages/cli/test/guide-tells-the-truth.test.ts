/** docs/how-to/webhooks-as-code.md: its commands are run in order, its files and tables are compared with what there is. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { WEBHOOKS_ROWS } from "../src/webhooks/webhooks-rows.ts";
import { startServer, workingFolder } from "./support/working-folder.ts";

const GUIDE = readFileSync(new URL("../../../docs/how-to/webhooks-as-code.md", import.meta.url), "utf8");

function blocks(language: string): string[] {
  return [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(([, text]) => text ?? "");
}

function commandsIn(text: string): string[][] {
  return [...text.matchAll(/^(?:inlet| +- run: npx @inlet\/cli) webhooks ([^#|\n]+)/gm)].map(([, words]) =>
    (words ?? "").trim().split(/\s+/),
  );
}

test("the commands, the settings and the fixture of the guide", async (t) => {
  const place = workingFolder(t, (await startServer(t)).variables);
  const commands = commandsIn([...blocks("sh"), ...blocks("yaml")].join("\n"));
  assert.deepEqual(
    commands.map(([name]) => name),
    ["new", "test", "plan", "apply", "pull", "test", "plan", "apply"],
  );
  const [settings = "", fixtures = ""] = blocks("json");
  for (const command of commands) {
    const { code, stderr } = await place.webhooks(...command);
    assert.ok(code === 0 || (code === 2 && command[0] === "plan"), `${command.join(" ")}: ${stderr}`);
    if (command[0] === "new") {
      assert.equal(place.read("webhooks/stripe/webhook.json"), settings);
      place.write("webhooks/stripe/fixtures.json", fixtures);
    }
  }
});

test("files and exit codes named in the guide are those there are", () => {
  for (const file of ["transform.js", "webhook.json", "fixtures.json"]) assert.ok(GUIDE.includes(`webhooks/stripe/${file}`));
  const [, head = "", rows = ""] = /^\| exit code \|(.*)\|\n.*\n((?:\| \d .*\n)+)/m.exec(GUIDE) ?? [];
  const names = head.split("|").map((cell) => cell.trim().replaceAll("`", ""));
  const told = names.map((_, column) =>
    rows
      .trim()
      .split("\n")
      .flatMap((row, code) => (row.split("|")[column + 2]?.trim() ? [code] : [])),
  );
  // Commands about the folder; those about the server exit as all others do.
  const known = WEBHOOKS_ROWS.filter(({ usageExit }) => usageExit !== undefined).map(({ words, exits = [] }) => [
    words[1],
    exits.map(([code]) => code),
  ]);
  assert.deepEqual(Object.fromEntries(names.map((name, column) => [name, told[column]])), Object.fromEntries(known));
});
