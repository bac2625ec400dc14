/** An app that is another program: an SDK of another language, started as a process of its own, gone after the test. */

import { spawn } from "node:child_process";
import type { TestContext } from "node:test";
import { onEnd } from "../on-end.ts";

const START_TIMEOUT_MS = 20_000;

/** Resolves with the address of its endpoint, once it has printed the port it listens on. */
export async function startForeignApp(t: TestContext, command: readonly string[], env: Record<string, string>): Promise<string> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { env: { PATH: process.env.PATH ?? "", ...env }, stdio: ["ignore", "pipe", "pipe"] });
  onEnd(t, () => void child.kill("SIGKILL"));
  let output = "";
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => reject(new Error(`the app did not start: ${output}`)), START_TIMEOUT_MS);
    const read = (chunk: string) => {
      output += chunk;
      const port = /listening on (\d+)/.exec(output)?.[1];
      if (port === undefined) return;
      clearTimeout(timeout);
      resolve(`http://127.0.0.1:${port}/api/inngest`);
    };
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", read);
    child.once("exit", (code) => reject(new Error(`the app ended with ${code}: ${output}`)));
  });
}
