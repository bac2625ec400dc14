/** Serves a function in each runtime and framework, registers it with a dev server, and runs it to its end. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Release } from "../build-release.ts";
import { run } from "../run.ts";
import { type Check, Unavailable } from "./check.ts";
import { untilListening } from "./check-installs.ts";
import { FRAMEWORKS } from "./runtimes/frameworks.ts";
import { PLATFORMS } from "./runtimes/platforms.ts";
import { INLET_FILE, type Runtime, SERVE } from "./runtimes/runtime.ts";
import { SERVERS } from "./runtimes/servers.ts";
import { environmentWith, type Toolbox } from "./toolbox.ts";

const MANIFEST = { private: true, type: "module", allowScripts: { bun: true, deno: true, "aws-lambda-ric": true } };
const NO_TELEMETRY = {
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NUXT_TELEMETRY_DISABLED: "1",
  WRANGLER_SEND_METRICS: "false",
};
const POLLS = 600;
const POLL_MS = 100;

export function checkRuntimes(release: Release, toolbox: Toolbox): Check[] {
  return [...SERVERS, ...PLATFORMS, ...FRAMEWORKS].map((runtime) => ({
    name: `${runtime.name} serves a function`,
    run: () => checkRuntime(runtime, release, toolbox),
  }));
}

async function checkRuntime(runtime: Runtime, { cli, sdk }: Release, toolbox: Toolbox): Promise<void> {
  const project = join(toolbox.folder, runtime.name.replaceAll(" ", "-"));
  const env = { ...environmentWith(toolbox, [toolbox.nodes[24]], toolbox.folder), ...NO_TELEMETRY };
  const files = { "package.json": JSON.stringify(MANIFEST), "inlet.js": INLET_FILE, ...runtime.files };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text);
  }
  const flags = ["--no-audit", "--no-fund", "--loglevel=error", ...(runtime.installScripts ? [] : ["--ignore-scripts"])];
  const install = (packages: readonly string[]) => run("npm", ["install", ...flags, ...packages], { cwd: project, env });
  await install(runtime.packages).catch((error: Error) => {
    throw new Unavailable(`it could not be installed\n${error.message}`);
  });
  await install([`@inlet/cli@file:${cli}`, `@inlet/sdk@file:${sdk}`]);
  const program = (name: string) => (name === "node" ? join(toolbox.nodes[24], "node") : join(project, "node_modules/.bin", name));
  const [builder, ...words] = runtime.build ?? [];
  if (builder) await run(program(builder), words, { cwd: project, env });
  const server = spawn(program("inlet"), ["dev", "--port", "0", "--ephemeral", "--discover", "off"], { cwd: project, env });
  const url = await untilListening(server);
  const [name = "", ...argv] = runtime.serve ?? SERVE;
  const served = spawn(program(name), argv, { cwd: project, env: { ...env, INLET_BASE_URL: url } });
  try {
    await runsToItsEnd(url, `http://127.0.0.1:${await untilPort(served)}/api/inlet`);
  } finally {
    await Promise.all([server, served].map(end));
  }
}

async function runsToItsEnd(url: string, appUrl: string): Promise<void> {
  const ask = async (path: string, body?: object) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url + path, body ? { method: "POST", headers, body: JSON.stringify(body) } : {});
    const text = await response.text();
    assert.ok(response.ok, text);
    return JSON.parse(text);
  };
  await ask("/v1/apps", { url: appUrl });
  const { ids } = await ask("/e/dev", { name: "shop/order.created", data: { n: 1 } });
  for (let poll = 0; poll < POLLS; poll++) {
    const [run] = (await ask(`/v1/events/${ids[0]}/runs`)).data;
    if (run?.status === "completed") return assert.deepEqual((await ask(`/v1/runs/${run.id}`)).data.output, [1, 2]);
    assert.notEqual(run?.status, "failed", run?.error?.message);
    await pause(POLL_MS);
  }
  assert.fail("the run did not end");
}

async function untilPort(served: ChildProcess): Promise<string> {
  let printed = "";
  return new Promise((resolve, reject) => {
    for (const stream of [served.stdout, served.stderr])
      stream?.on("data", (chunk) => {
        printed += chunk;
        const [, port] = /^port (\d+)$/m.exec(printed) ?? [];
        if (port) resolve(port);
      });
    served.once("exit", () => reject(new Error(printed)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  child.kill("SIGTERM");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}
