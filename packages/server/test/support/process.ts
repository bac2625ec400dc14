/** The service as a process of its own, as users run it, which a test may kill. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { currentStore } from "./current-store.ts";
import { onEnd } from "./on-end.ts";

/** The variable by which a run of many files tells them of a bundle of the command (scripts/bundle-program.ts). */
export const BUNDLED_PROGRAM = "INLET_TEST_PROGRAM";

/** The command as users run it, module by module. `npm run release -- --check` names that of an installed package, and another Node. */
export const INLET_MODULES_BIN = process.env.TEST_INLET_BIN ?? fileURLToPath(new URL("../../../cli/bin/inlet.js", import.meta.url));
/** The same command, which may be a bundle. */
export const INLET_BIN = process.env.TEST_INLET_BIN ?? process.env[BUNDLED_PROGRAM] ?? INLET_MODULES_BIN;
export const INLET_NODE = process.env.TEST_INLET_NODE ?? process.execPath;

/**
 * A service keeps most of what it makes while it starts: with room for it, less is copied by the garbage collector, whose threads would
 * wait for each other on a busy machine.
 */
const NODE_FLAGS = ["--min-semi-space-size=16", "--single-threaded-gc"];

/** Healthy work ends within this time on any machine. A test of what takes too long says how long that is. */
export const PATIENT_DATABASE_TIMEOUT = "60s";

/** Of CPU time: a starved host counts time that it took from this machine as if a transform had used it. */
export const PATIENT_TRANSFORM_TIMEOUT = "2s";

/**
 * A service opens as many connections as it may while it starts, and PostgreSQL spends more on each than on most tests. With four, three
 * transactions of events and runs still run side by side. Tests of the connections themselves ask for the default.
 */
export const FEW_DATABASE_CONNECTIONS = "4";

export interface InletProcess {
  url: string;
  child: ChildProcess;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Waits until it has written this to its log: a pipe may lag behind a response. */
  logged(pattern: RegExp): Promise<void>;
  /** Ends it and waits; returns the exit code, null when a signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * Starts `inlet <argv>` and waits for it to listen. Unless told otherwise, it is patient with its database and with transforms, opens few connections to it, and
 * looks for no apps on the usual ports: whatever else runs on this machine may use them. `bin` is another command.
 */
export async function startInlet(t: TestContext, argv: string[], env: Record<string, string> = {}, bin = INLET_BIN): Promise<InletProcess> {
  checkStore(argv, env);
  const usual = {
    INLET_DATABASE_TIMEOUT: PATIENT_DATABASE_TIMEOUT,
    INLET_TRANSFORM_TIMEOUT: PATIENT_TRANSFORM_TIMEOUT,
    INLET_DATABASE_CONNECTIONS: FEW_DATABASE_CONNECTIONS,
    INLET_DISCOVER: "off",
  };
  const inlet = spawnInlet(t, argv, { ...usual, ...env }, bin);
  const url = await new Promise<string>((resolve, reject) => {
    inlet.child.stdout?.on("data", () => {
      const line = /^listening on (\S+)$/m.exec(inlet.stdout());
      if (line?.[1]) resolve(line[1]);
    });
    inlet.child.once("exit", (code) => reject(new Error(`inlet ended with code ${code} before it listened:\n${inlet.stderr()}`)));
  });
  return { ...inlet, url };
}

/** A test for both engines that starts the embedded store twice would prove nothing of PostgreSQL. */
function checkStore(argv: readonly string[], env: Record<string, string>): void {
  if (currentStore() === "sqlite" || argv.includes("--database-url") || "INLET_DATABASE_URL" in env) return;
  throw new Error("this test is for both engines, and its process opens the embedded store: give it the flags of storeFlags(t, …)");
}

/** Runs `inlet <argv>` to its end. */
export async function runInlet(t: TestContext, argv: string[], env: Record<string, string> = {}): Promise<Ended> {
  const inlet = spawnInlet(t, argv, env);
  const [code] = (await once(inlet.child, "close")) as [number | null];
  return { code, stdout: inlet.stdout(), stderr: inlet.stderr() };
}

/** What a process gets of the environment: nothing that could change what it does. */
export const BARE_ENVIRONMENT = {
  PATH: process.env.PATH,
  TMPDIR: process.env.TMPDIR,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};

/** Starts `inlet <argv>`, whatever it does. */
export function spawnInlet(t: TestContext, argv: string[], env: Record<string, string> = {}, bin = INLET_BIN): Omit<InletProcess, "url"> {
  const child = spawn(INLET_NODE, [...NODE_FLAGS, bin, ...argv], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...BARE_ENVIRONMENT, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  async function end(signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    // Later than its exit: by then, all it has printed was read.
    await closed;
    return child.exitCode;
  }
  async function logged(pattern: RegExp): Promise<void> {
    const deadline = Date.now() + 300_000;
    while (!pattern.test(stderr)) {
      if (Date.now() > deadline) throw new Error(`the log does not say ${pattern}:\n${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  onEnd(t, () => end("SIGKILL"));
  return { child, stdout: () => stdout, stderr: () => stderr, logged, end };
}
