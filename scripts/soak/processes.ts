/** The processes of a soak: nodes of the service, which may be killed and started again at the same address, and the app. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "../../packages/server/test/support/free-port.ts";

const CLI = fileURLToPath(new URL("../../packages/cli/bin/inlet.js", import.meta.url));
const APP = fileURLToPath(new URL("app.ts", import.meta.url));

export const API_KEY = "ak_soak_0123456789";
export const EVENT_KEY = "evk_soak_0123456789";
export const SIGNING_KEY = `signkey-prod-${"5a".repeat(16)}`;

export interface Node {
  url: string;
  dataDir: string;
  pid(): number;
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
}

export async function startNode({ dataDir, databaseUrl }: { dataDir: string; databaseUrl: string | null }): Promise<Node> {
  const port = await freePort();
  const argv = ["start", "--port", String(port), "--host", "127.0.0.1", "--data-dir", dataDir, "--log-level", "warn"];
  // So short that old data goes while the soak is watching.
  const retention = ["--event-retention", "2m", "--run-retention", "2m", "--request-retention", "2m"];
  const env = {
    PATH: process.env.PATH,
    INLET_API_KEY: API_KEY,
    SERVICE_EVENT_KEY: EVENT_KEY,
    INLET_SIGNING_KEY: SIGNING_KEY,
    ...(databaseUrl && { INLET_DATABASE_URL: databaseUrl }),
  };
  let child: ChildProcess;
  const node: Node = {
    url: `http://127.0.0.1:${port}`,
    dataDir,
    pid: () => child.pid ?? 0,
    async start() {
      child = spawn(process.execPath, [CLI, ...argv, ...retention], { env, stdio: ["ignore", "pipe", "inherit"] });
      await untilPrinted(child, /^listening on /m);
    },
    end: (signal) => endProcess(child, signal),
  };
  await node.start();
  return node;
}

export async function startApp(baseUrl: string, stepsFile: string): Promise<{ end(signal: NodeJS.Signals): Promise<void> }> {
  const port = await freePort();
  const child = spawn(process.execPath, [APP, String(port), stepsFile], {
    env: { PATH: process.env.PATH, INLET_BASE_URL: baseUrl, SERVICE_EVENT_KEY: EVENT_KEY, INLET_SIGNING_KEY: SIGNING_KEY },
    stdio: ["ignore", "pipe", "inherit"],
  });
  await untilPrinted(child, /^ready$/m);
  const synced = await fetch(`${baseUrl}/v1/apps`, {
    method: "POST",
    body: JSON.stringify({ url: `http://127.0.0.1:${port}/api/inlet` }),
    headers: { authorization: `Bearer ${API_KEY}`, "content-type": "application/json" },
  });
  if (!synced.ok) throw new Error(`the app could not be synced: ${await synced.text()}`);
  return { end: (signal) => endProcess(child, signal) };
}

async function untilPrinted(child: ChildProcess, pattern: RegExp): Promise<void> {
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      printed += chunk;
      if (pattern.test(printed)) resolve();
    });
    child.once("exit", (code) => reject(new Error(`ended with ${code} before it was ready:\n${printed}`)));
  });
}

async function endProcess(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, "exit");
}
