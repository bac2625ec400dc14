/**
 * Follows the guides with the installed command, on the ports they name. What installs is run as it is written, in a home folder in
 * which `~/inlet` is this checkout. Guides with a test of their own are tested with the installed command in place of the checkout's.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { commandBlocks } from "../../docs/command-blocks.ts";
import { ROOT } from "../pack-packages.ts";
import { QUIET_NPM, run } from "../run.ts";
import { bash, type Check, type Home } from "./check.ts";
import { followPage } from "./follow-page.ts";
import { FOLLOWED_PAGES } from "./followed-pages.ts";
import { environmentWith, type Toolbox } from "./toolbox.ts";

const TESTED = ["guides-run-as-written", "recipes-run-as-written", "guide-tells-the-truth"].map(
  (name) => `packages/cli/test/${name}.test.ts`,
);
const PORTS = [8288, 3000, 3001];
/** A refusal or a silence ends a guide. */
const CURL_SETTINGS = "silent\nshow-error\nfail-with-body\nmax-time = 30\n";

export function checkGuides(toolbox: Toolbox): Check[] {
  let home: Promise<Home> | null = null;
  const atHome = () => (home ??= installAsWritten(toolbox));
  return [
    { name: "guide: install", run: async () => void (await atHome()) },
    ...(["22", "24"] as const).map((major) => ({
      name: `guides with tests, the installed command on Node ${major}`,
      run: async () => {
        const { folder } = await atHome();
        const bin = join(folder, "prefix/lib/node_modules/@inlet/cli/bin/inlet.js");
        const env = { ...process.env, TEST_INLET_BIN: bin, TEST_INLET_NODE: join(toolbox.nodes[major], "node") };
        await run(process.execPath, ["--test", ...TESTED], { cwd: ROOT, env });
      },
    })),
    ...FOLLOWED_PAGES.map((followed) => ({ name: `guide: ${followed.page}`, run: async () => followPage(followed, await atHome()) })),
  ];
}

async function installAsWritten(toolbox: Toolbox): Promise<Home> {
  const { folder: parent, nodes } = toolbox;
  for (const port of PORTS) await assertFree(port);
  const folder = join(parent, "home");
  mkdirSync(folder);
  symlinkSync(ROOT, join(folder, "inlet"));
  writeFileSync(join(folder, ".curlrc"), CURL_SETTINGS);
  const prefix = join(folder, "prefix");
  const env = { ...environmentWith(toolbox, [nodes[24], join(prefix, "bin")], folder), ...QUIET_NPM, npm_config_prefix: prefix };
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{"name":"project","private":true}');
  // One shell would keep INLET from block to block.
  const blocks = commandBlocks("docs/how-to/install.md").filter(({ install }) => install !== null);
  assert.ok(blocks.length > 0, "the page installs nothing");
  await bash(blocks.map(({ script }) => script).join("\n"), project, env);
  return { folder, checkout: join(folder, "inlet"), env };
}

async function assertFree(port: number): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(port, "127.0.0.1"), "listening");
  } catch {
    throw new Error(`port ${port} is taken; the guides use it`);
  } finally {
    server.close();
  }
}
