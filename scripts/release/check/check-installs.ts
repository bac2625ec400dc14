/** Installs both packages in empty folders, with every package manager on every Node, and uses them there. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Release } from "../build-release.ts";
import { readManifest } from "../pack-packages.ts";
import { run } from "../run.ts";
import type { Check } from "./check.ts";
import { environmentWith, type Manager, type Toolbox } from "./toolbox.ts";

const SEND = `
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
const inlet = new Inlet({ id: "shop", isDev: true });
const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, () => "shipped");
serve({ client: inlet, functions: [ship] });
if (process.env.INLET_BASE_URL) await inlet.send({ name: "shop/order.created", data: {} });
console.log("fine");
`;

/** The service parses archived files in a process of its own, whose file no import leads to. */
const PARSE = `
import { DecoderProcess } from "./node_modules/@inlet/cli/dist/server/src/archive/files/decoder-process.js";
const file = { name: "empty.parquet", byteLength: 0, slice: async () => new ArrayBuffer(0), close: async () => undefined };
await new DecoderProcess().decode(file, { table: "events" }).catch(({ message }) => console.log(message));
`;

export function checkInstalls({ cli, sdk }: Release, toolbox: Toolbox): Check[] {
  const { managers, nodes, folder } = toolbox;
  return managers.flatMap((manager) =>
    manager.nodes.map((major) => ({
      name: `${manager.name} on Node ${major}`,
      async run() {
        const project = join(folder, `${manager.name}-${major}`.replace(" ", "-"));
        const env = environmentWith(toolbox, [nodes[major]], folder);
        await install(manager, project, env, [`@inlet/cli@file:${cli}`, `@inlet/sdk@file:${sdk}`]);
        if (major === "20") await refuses(project, env);
        else await works(project, env);
      },
    })),
  );
}

async function install({ command, add, files }: Manager, project: string, env: NodeJS.ProcessEnv, packages: string[]): Promise<void> {
  mkdirSync(project);
  const all = { "package.json": '{"name":"empty","version":"1.0.0","type":"module"}', "send.js": SEND, "parse.js": PARSE, ...files };
  for (const [name, text] of Object.entries(all)) writeFileSync(join(project, name), text);
  const [program = "", ...words] = command;
  await run(program, [...words, ...add, ...packages], { cwd: project, env });
}

/** The CLI says which Node it needs; the SDK works. */
async function refuses(project: string, env: NodeJS.ProcessEnv): Promise<void> {
  const { all } = await run(join(project, "node_modules/.bin/inlet"), ["--version"], { cwd: project, env, codes: [1] });
  assert.match(all, /^error: inlet needs Node 22\.19 or newer, and this is Node 20\.\d+\.\d+\. .*\n$/);
  assert.equal((await run("node", ["send.js"], { cwd: project, env })).out, "fine\n");
}

async function works(project: string, env: NodeJS.ProcessEnv): Promise<void> {
  const inlet = join(project, "node_modules/.bin/inlet");
  assert.equal((await run(inlet, ["--version"], { cwd: project, env })).out, `${readManifest("packages/cli").version}\n`);
  const parsed = (await run("node", ["parse.js"], { cwd: project, env })).out;
  assert.match(parsed, /^empty\.parquet cannot be read: (?!it takes|its reader)/);
  const server = spawn(inlet, ["dev", "--port", "0", "--ephemeral", "--discover", "off"], { cwd: project, env });
  try {
    const withUrl = { ...env, INLET_BASE_URL: await untilListening(server) };
    assert.equal((await run("node", ["send.js"], { cwd: project, env: withUrl })).out, "fine\n");
    const { out } = await run(inlet, ["events", "list"], { cwd: project, env: withUrl });
    assert.match(out, /shop\/order\.created/);
  } finally {
    server.kill("SIGTERM");
    if (server.exitCode === null) await once(server, "exit");
  }
  assert.equal(server.exitCode, 0);
}

/** The address a service prints. */
export async function untilListening(server: ChildProcess): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr])
      stream?.on("data", (chunk) => {
        printed += chunk;
        const [, url] = /^listening on (\S+)$/m.exec(printed) ?? [];
        if (url) resolve(url);
      });
    server.once("exit", () => reject(new Error(printed)));
  });
}
