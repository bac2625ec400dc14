/**
 * Follows the guides with the installed command, on the ports they name. What installs is run as it is written, in a home folder in
 * which `~/inlet` is this checkout. Guides with a test of their own are tested with the installed command in place of the checkout's.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { readPage } from "../install-text.ts";
import { ROOT } from "../pack-packages.ts";
import { QUIET_NPM, run } from "../run.ts";
import { bash, type Check, type Home } from "./check.ts";
import { untilListening } from "./check-installs.ts";
import { CURL_GUIDES, type CurlGuide, followCurlGuide } from "./curl-guides.ts";
import { environmentWith, type Toolbox } from "./toolbox.ts";

const TESTED = ["guides-run-as-written", "recipes-run-as-written", "guide-tells-the-truth"].map(
  (name) => `packages/cli/test/${name}.test.ts`,
);
const PORTS = [8288, 3000];
/** A refusal or a silence ends a guide. */
const CURL_SETTINGS = "silent\nshow-error\nfail-with-body\nmax-time = 5\n";

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
    { name: "guide: docs/reference/sdk.md, quick start", run: async () => followSdkGuide(await atHome()) },
    ...CURL_GUIDES.map((guide: CurlGuide) => ({ name: `guide: ${guide.page}`, run: async () => followCurlGuide(guide, await atHome()) })),
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
  for (const script of installBlocks("docs/how-to/install.md")) await bash(script, project, env);
  return { folder, env, inlet: join(prefix, "bin/inlet") };
}

function installBlocks(page: string): string[] {
  const blocks = [...readPage(page).matchAll(/<!-- install:[a-z]+ -->\n([\s\S]*?)<!-- \/install -->/g)].map(([, text = ""]) => text);
  const scripts = blocks.flatMap((text) => [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, script = ""]) => script));
  assert.ok(scripts.length > 0, `${page} installs nothing`);
  // One shell would keep INLET from block to block.
  return [scripts.join("\n")];
}

/** The app of the quick start, in an empty folder, on the ports that the guide names. */
async function followSdkGuide({ folder, env, inlet }: Home): Promise<void> {
  const project = join(folder, "shop");
  mkdirSync(project);
  const page = readPage("docs/reference/sdk.md");
  const [start = ""] = page.split("\n## The client");
  for (const script of installBlocks("docs/reference/sdk.md")) await bash(script, project, env);
  writeFileSync(join(project, "app.ts"), /^```ts\n([\s\S]*?)^```$/m.exec(start)?.[1] ?? "");
  const service = spawn(inlet, ["dev", "--ephemeral"], { cwd: project, env });
  const app = spawn("node", ["app.ts"], { cwd: project, env: { ...env, INLET_DEV: "1" }, stdio: "inherit" });
  try {
    const url = await untilListening(service);
    await untilTrue(async () => (await count(`${url}/v1/functions`)) === 1, "the app was not discovered");
    const scripts = [...start.replace(/<!-- install:[\s\S]*?<!-- \/install -->/g, "").matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
    for (const [, script = ""] of scripts) assert.match(await bash(script, project, env), /"status":200/);
    await untilTrue(async () => (await count(`${url}/v1/runs?status=completed`)) === 1, "the run did not end");
  } finally {
    for (const child of [app, service]) {
      child.kill("SIGTERM");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
  }
}

async function count(url: string): Promise<number> {
  const { data } = (await (await fetch(url)).json()) as { data: unknown[] };
  return data.length;
}

async function untilTrue(holds: () => Promise<boolean>, message: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(message);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
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
