/** Runs a program to its end. Returns its output, or throws an error with all of its output. */

import { spawn } from "node:child_process";
import { once } from "node:events";

export interface Ran {
  code: number | null;
  out: string;
  /** Standard output and standard error as they came. */
  all: string;
}

export interface RunOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** Exit codes that are no error; by default only 0. */
  codes?: readonly number[];
}

/** npm without audit, funding messages and other output. */
export const QUIET_NPM = {
  npm_config_audit: "false",
  npm_config_fund: "false",
  npm_config_update_notifier: "false",
  npm_config_loglevel: "error",
  npm_config_ignore_scripts: "true",
};

export async function run(command: string, argv: readonly string[], { cwd, env = process.env, codes = [0] }: RunOptions): Promise<Ran> {
  const child = spawn(command, argv, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let [out, all] = ["", ""];
  child.stdout.on("data", (chunk) => (out += chunk));
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (all += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  if (code === null || !codes.includes(code)) throw new Error(`${command} ${argv.join(" ")} ended with ${code} in ${cwd}:\n${all}`);
  return { code, out, all };
}
