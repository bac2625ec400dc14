/** What a check of a release is, and what checks share. */

import { run } from "../run.ts";

export interface Check {
  name: string;
  /** Why it cannot be run on this machine, or null. */
  unavailable?(): string | null;
  /** Throws when it fails. */
  run(): Promise<void>;
}

/** Thrown by a check that turns out not to be possible on this machine. It counts as skipped. */
export class Unavailable extends Error {}

export interface Home {
  folder: string;
  /** The clone of the repository, as the guides call it: `~/inlet`. */
  checkout: string;
  env: NodeJS.ProcessEnv;
}

export async function bash(script: string, cwd: string, env: NodeJS.ProcessEnv, codes: readonly number[] = [0]): Promise<string> {
  return (await run("bash", ["--norc", "-euc", script], { cwd, env, codes })).out;
}
