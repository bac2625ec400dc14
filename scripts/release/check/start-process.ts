/** A command of a page that keeps running: started in a process group of its own, so that ending it ends everything it started. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

export interface Process {
  output(): string;
  /** Waits until it has printed this; everything it has printed. */
  printed(pattern: RegExp): Promise<string>;
  end(): Promise<void>;
}

const WAIT_MS = 120_000;

export async function startProcess(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Process> {
  const child = spawn("bash", ["--norc", "-c", command], { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const closed = once(child, "close");
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    output: () => output,
    async printed(pattern) {
      for (const deadline = Date.now() + WAIT_MS; !pattern.test(output); await sleep(50))
        if (hasEnded() || Date.now() > deadline) throw new Error(`${command} does not print ${pattern}:\n${output}`);
      return output;
    },
    async end() {
      signalGroup(child.pid, "SIGTERM");
      await closed;
    },
  };
}

function signalGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // All of them have ended.
  }
}
