/** npm, which is started again when it stands still: extracting a package, it sometimes waits for ever, with nothing left to do. */

import { execFileSync } from "node:child_process";

export interface NpmOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
}

/** Ten times as long as it takes on a slow machine. */
const STUCK_AFTER_MS = 120_000;
const TRIES = 3;

/** Returns what it prints. */
export function runNpm(argv: readonly string[], options: NpmOptions): string {
  for (let tries = 1; ; tries++) {
    try {
      return execFileSync("npm", argv, { ...options, encoding: "utf8", stdio: "pipe", timeout: STUCK_AFTER_MS, killSignal: "SIGKILL" });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ETIMEDOUT" || tries === TRIES) throw error;
    }
  }
}
