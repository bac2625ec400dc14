/** Every block of commands in the documentation is run by a test or by the release check, or is listed with the reason why it cannot be. */

import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FOLLOWED_PAGES } from "../release/check/followed-pages.ts";
import { BLOCK_RUNNERS, RELEASE, runnerOf } from "./block-runners.ts";
import { commandBlocks, PAGES, unmarkedCommands } from "./command-blocks.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BLOCKS = PAGES.flatMap((page) => commandBlocks(page).map((block) => ({ page, block, runner: runnerOf(page, block) })));
/** The pages whose install blocks the release check runs. */
const INSTALLED_FROM = ["docs/how-to/install.md", "docs/reference/sdk.md"];

test("every block is run, or cannot be", () => {
  assert.ok(BLOCKS.length > 130, `${BLOCKS.length} blocks were found`);
  const unknown = BLOCKS.filter(({ runner }) => runner === undefined).map(({ page, block }) => `${page}: ${block.script}`);
  assert.deepEqual(unknown, [], "name who runs these, or why nobody can, in scripts/docs/block-runners.ts");
});

test("every line of the list is about a block that there is", () => {
  for (const [page, { blocks = {} }] of Object.entries(BLOCK_RUNNERS)) {
    assert.ok(PAGES.includes(page), page);
    const scripts = commandBlocks(page).map(({ script }) => script);
    assert.ok(scripts.length > 0, `${page} has no commands`);
    for (const beginning of Object.keys(blocks)) {
      assert.ok(
        scripts.some((script) => script.startsWith(beginning)),
        `${page}: ${beginning}`,
      );
    }
  }
});

test("a runner is a test that reads the page, or the release check", () => {
  const recipes = readFileSync(join(ROOT, "packages/sdk/test/recipe-stubs.ts"), "utf8");
  for (const { page, runner } of BLOCKS) {
    if (runner === undefined || "not" in runner || runner.by === RELEASE) continue;
    const [file] = globSync(`packages/*/test/${runner.by}.test.ts`, { cwd: ROOT });
    const text = readFileSync(join(ROOT, file ?? assert.fail(`there is no test ${runner.by}`)), "utf8");
    const isNamed = text.includes(page.replace(/^docs\//, "")) || (/\bRECIPES\b/.test(text) && recipes.includes(basename(page, ".md")));
    assert.ok(isNamed, `${runner.by} does not read ${page}`);
  }
});

test("the release check follows exactly the pages that the list gives it", () => {
  const given = BLOCKS.filter(
    ({ block, runner }) => block.install === null && runner !== undefined && "by" in runner && runner.by === RELEASE,
  );
  const pages = [...new Set(given.map(({ page }) => page))];
  assert.deepEqual(FOLLOWED_PAGES.map(({ page }) => page).sort(), pages.sort());
});

test("every install block is one that the release check runs", () => {
  const run = new Set(INSTALLED_FROM.flatMap((page) => commandBlocks(page).map(({ install }) => install)));
  for (const { page, block } of BLOCKS) assert.ok(block.install === null || run.has(block.install), `${page}: ${block.install}`);
});

test("blocks of commands say that they are", () => {
  // The synopses of the reference are written from the commands themselves.
  const unmarked = PAGES.filter((page) => page !== "docs/reference/cli.md").flatMap((page) =>
    unmarkedCommands(page).map((body) => `${page}: ${body}`),
  );
  assert.deepEqual(unmarked, [], "mark them as sh, console or powershell");
});
