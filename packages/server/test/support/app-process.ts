/** An app as a process of its own, which a test may kill and start again at the same address. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { onEnd } from "./on-end.ts";
import { BARE_ENVIRONMENT } from "./process.ts";

export interface AppProcess {
  end(signal: NodeJS.Signals): Promise<void>;
}

/** Starts `node <script> <argv>`, a file beside this one, and waits until it says that it is ready. */
export async function startApp(t: TestContext, script: string, argv: string[]): Promise<AppProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [path, ...argv], { stdio: ["ignore", "pipe", "pipe"], env: BARE_ENVIRONMENT });
  let printed = "";
  child.stderr.on("data", (chunk) => (printed += chunk));
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  }
  onEnd(t, () => end("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    child.stdout.on("data", (chunk) => /^ready$/m.test(String(chunk)) && resolve());
    child.once("exit", (code) => reject(new Error(`the app ended with code ${code} before it was ready:\n${printed}`)));
  });
  return { end };
}
