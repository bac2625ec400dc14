/** A temporary folder in which a test runs `inlet` as a person or a CI job would. Cleaned up after the test. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { pino } from "pino";
import { readConfig } from "../../../server/src/config/config.ts";
import type { Mode } from "../../../server/src/config/settings.ts";
import { startService } from "../../../server/src/service.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import {
  BARE_ENVIRONMENT,
  type Ended,
  FEW_DATABASE_CONNECTIONS,
  INLET_BIN,
  INLET_NODE,
  PATIENT_DATABASE_TIMEOUT,
  startInlet,
} from "../../../server/test/support/process.ts";
import { databaseOfTest, temporaryFolder } from "../../../server/test/support/service.ts";
import { commandOf, runHere } from "./run-here.ts";

export const API_KEY = "ak_test";
export const EVENT_KEY = "evk_test";

export interface WorkingFolder {
  folder: string;
  /** Runs `inlet webhooks <argv>` in the folder, to its end. */
  webhooks(...argv: string[]): Promise<Ended>;
  /** Runs `inlet webhooks apply`, which must succeed. */
  apply(): Promise<void>;
  /** As `webhooks`, with --json: its exit code, and what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json(...argv: string[]): Promise<{ code: number | null; body: any }>;
  /** Runs `inlet <argv>` in the folder, to its end; `input` is its standard input. */
  inlet(argv: string[], input?: string): Promise<Ended>;
  /** Starts `inlet <argv>` in the folder. */
  start(...argv: string[]): Running;
  write(file: string, text: string): void;
  /** Changes some fields of a JSON file. */
  edit(file: string, fields: Record<string, unknown>): void;
  read(file: string): string;
  exists(file: string): boolean;
}

const IS_INSTALLED = process.env.TEST_INLET_BIN !== undefined;

/** A command that goes on until it is ended. */
export interface Running {
  pid: number | undefined;
  stdout(): string;
  stderr(): string;
  /** Waits until it has printed this, to either of the two. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it with a signal and waits; its exit code. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Waits for it to end by itself. */
  ended(): Promise<number | null>;
}

export function workingFolder(t: TestContext, variables: Record<string, string> = {}): WorkingFolder {
  const folder = temporaryFolder(t);
  const at = (file: string) => join(folder, file);
  const inlet = (argv: string[], input?: string) => run(folder, argv, variables, input);
  const webhooks = (...argv: string[]) => inlet(["webhooks", ...argv]);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), text);
  };
  const read = (file: string) => readFileSync(at(file), "utf8");
  return {
    folder,
    inlet,
    start: (...argv) => start(t, folder, argv, variables),
    webhooks,
    async apply() {
      const { code, stdout, stderr } = await webhooks("apply");
      assert.equal(code, 0, `${stdout}${stderr}`);
    },
    async json(...argv) {
      const { code, stdout } = await webhooks(...argv, "--json");
      return { code, body: JSON.parse(stdout) };
    },
    write,
    edit: (file, fields) => write(file, `${JSON.stringify({ ...JSON.parse(read(file)), ...fields }, null, 2)}\n`),
    read,
    exists: (file) => existsSync(at(file)),
  };
}

/** A service of its own, and the variables that lead to it. */
export async function startServer(t: TestContext, flags: readonly string[] = []) {
  const url = await serve(t, "start", ["--api-key", API_KEY, "--event-key", EVENT_KEY, ...flags]);
  const rest = async (method: string, path: string, body?: unknown, environment?: string) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${API_KEY}`,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...(environment !== undefined && { "x-service-env": environment }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    const answer = (await response.json()) as any;
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.data;
  };
  return { url, rest, variables: { INLET_BASE_URL: url, INLET_API_KEY: API_KEY, INLET_EVENT_KEY: EVENT_KEY } };
}

/** A dev server, which asks for no keys; its address. */
export function startDev(t: TestContext, flags: readonly string[] = []): Promise<string> {
  return serve(t, "dev", ["--discover", "off", ...flags]);
}

/** On the store of the test. In the process of the test, unless an installed package is tested. */
async function serve(t: TestContext, mode: Mode, flags: readonly string[]): Promise<string> {
  const dataDir = temporaryFolder(t);
  const databaseUrl = await databaseOfTest(t, dataDir);
  const store = databaseUrl === undefined ? [] : ["--database-url", databaseUrl];
  const argv = ["--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir, ...store, ...flags];
  if (IS_INSTALLED) return (await startInlet(t, [mode, ...argv])).url;
  const variables = { INLET_DATABASE_TIMEOUT: PATIENT_DATABASE_TIMEOUT, INLET_DATABASE_CONNECTIONS: FEW_DATABASE_CONNECTIONS };
  const service = await startService(readConfig(mode, argv, variables), {
    log: pino({ level: "silent" }),
    telemetry: null,
  });
  onEnd(t, () => service.stop());
  return service.url;
}

function launch(cwd: string, argv: string[], variables: Record<string, string>) {
  const child = spawn(INLET_NODE, [INLET_BIN, ...argv], { cwd, env: { ...BARE_ENVIRONMENT, ...variables } });
  const printed = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => (printed.stdout += chunk));
  child.stderr.on("data", (chunk) => (printed.stderr += chunk));
  return { child, printed };
}

/** The commands of this file that have run as a process. */
const seenToEnd = new Set<string>();

/** The first time as a process, which has to end by itself; then in the process of the test. */
async function run(cwd: string, argv: string[], variables: Record<string, string>, input = ""): Promise<Ended> {
  const command = commandOf(argv)?.words.join(" ");
  if (command !== undefined && seenToEnd.has(command) && !IS_INSTALLED) return runHere(cwd, argv, variables, input);
  if (command !== undefined) seenToEnd.add(command);
  const { child, printed } = launch(cwd, argv, variables);
  // A command that does not read its input may be gone before we have written it.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...printed };
}

function start(t: TestContext, cwd: string, argv: string[], variables: Record<string, string>): Running {
  const { child, printed } = launch(cwd, argv, variables);
  child.stdin.end();
  let isClosed = false;
  const closed = once(child, "close").then(([code]) => {
    isClosed = true;
    return code as number | null;
  });
  const end = (signal: NodeJS.Signals = "SIGINT") => {
    child.kill(signal);
    return closed;
  };
  onEnd(t, () => end("SIGKILL"));
  return {
    pid: child.pid,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    async printed(pattern) {
      const deadline = Date.now() + 300_000;
      for (;;) {
        const match = pattern.exec(printed.stdout) ?? pattern.exec(printed.stderr);
        if (match) return match;
        // What has ended says nothing more.
        if (isClosed || Date.now() > deadline) throw new Error(`it does not say ${pattern}:\n${printed.stdout}\n${printed.stderr}`);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
    end,
    ended: () => closed,
  };
}
