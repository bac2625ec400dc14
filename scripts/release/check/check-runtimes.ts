/** Serves a function with Bun and with Deno, and runs it to its end from a dev server. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Release } from "../build-release.ts";
import { run } from "../run.ts";
import type { Check } from "./check.ts";
import { untilListening } from "./check-installs.ts";
import { environmentWith, type Toolbox } from "./toolbox.ts";

/** `serving` is the runtime's own server. It prints the port that it got. */
const app = (serving: string) => `
import { Inlet } from "@inlet/sdk";
import { serve } from "@inlet/sdk/fetch";
const inlet = new Inlet({ id: "shop", isDev: true });
const ship = inlet.createFunction({ id: "ship" }, { event: "shop/order.created" }, async ({ event, step }) => {
  const both = await Promise.all([step.run("a", () => event.data.n), step.run("b", () => 2)]);
  await step.sleep("rest", "10ms");
  await step.sendEvent("tell", { name: "shop/order.shipped", data: { both } });
  return both;
});
const fetch = serve({ client: inlet, functions: [ship] });
const options = { port: 0, hostname: "127.0.0.1" };
${serving}
`;

const RUNTIMES = [
  { name: "Bun", package: "bun@latest", argv: ["bun"], serving: 'console.log("port", Bun.serve({ ...options, fetch }).port);' },
  {
    name: "Deno",
    package: "deno@latest",
    argv: ["deno", "run", "--allow-all", "--node-modules-dir=manual"],
    serving: 'Deno.serve({ ...options, onListen: ({ port }) => console.log("port", port) }, fetch);',
  },
];
const POLLS = 300;
const POLL_MS = 100;

export function checkRuntimes({ cli, sdk }: Release, toolbox: Toolbox): Check[] {
  return RUNTIMES.map(({ name, serving, argv: [program = "", ...argv], ...runtime }) => ({
    name: `${name} serves a function`,
    async run() {
      const project = join(toolbox.folder, name);
      const env = environmentWith(toolbox, [toolbox.nodes[24]], toolbox.folder);
      mkdirSync(project);
      // Their install scripts put the binary for this platform in its place.
      const manifest = { private: true, type: "module", allowScripts: { bun: true, deno: true } };
      writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
      writeFileSync(join(project, "app.js"), app(serving));
      await run(
        "npm",
        ["install", "--no-audit", "--no-fund", "--silent", runtime.package, `@inlet/cli@file:${cli}`, `@inlet/sdk@file:${sdk}`],
        {
          cwd: project,
          env,
        },
      );
      const bin = (command: string) => join(project, "node_modules/.bin", command);
      const server = spawn(bin("inlet"), ["dev", "--port", "0", "--ephemeral", "--discover", "off"], { cwd: project, env });
      const url = await untilListening(server);
      const served = spawn(bin(program), [...argv, "app.js"], { cwd: project, env: { ...env, INLET_BASE_URL: url } });
      try {
        await runsToItsEnd(url, `http://127.0.0.1:${await untilPort(served)}/api/inlet`);
      } finally {
        await Promise.all([server, served].map(end));
      }
    },
  }));
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
