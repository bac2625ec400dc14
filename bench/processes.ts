/** Starts and stops the processes of a benchmark, and reads what they cost. */

import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { LoadResult } from "./load.ts";
import type { FloorResult } from "./postgres-floor.ts";
import type { FloorCall } from "./postgres-runs-floor.ts";

/** The program of this checkout. */
export const PROGRAM = fileURLToPath(new URL("../packages/cli/bin/inlet.js", import.meta.url));
const CLOCK_TICKS_PER_SECOND = 100;

/** Those that run; none outlives this process. */
const children = new Set<ChildProcess>();
process.once("exit", () => {
  for (const child of children) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

export interface Server {
  url: string;
  /** What it printed before it was ready. */
  output: string;
  readyMs: number;
  child: ChildProcess;
  stop(): Promise<void>;
}

/** What a server is started with so that it keeps its data elsewhere than in its folder. */
let storeFlags: (dataDir: string) => Promise<string[]> = async () => [];

export function useStore(flagsFor: typeof storeFlags): void {
  storeFlags = flagsFor;
}

export async function startInlet(
  dataDir: string,
  flags: readonly string[] = [],
  program: string = PROGRAM,
  variables: Record<string, string> = {},
): Promise<Server> {
  const here = ["--port", "0", "--host", "127.0.0.1", "--data-dir", dataDir];
  const keys = ["--event-key", "bench", "--api-key", "bench"];
  return start([program, "start", ...here, ...keys, "--log-level", "warn", ...(await storeFlags(dataDir)), ...flags], variables);
}

export function startApp(sdk: string, baseUrl: string, signingKey: string): Promise<Server> {
  return start([here("app-server.ts"), sdk, baseUrl, signingKey]);
}

export function startBareApp(baseUrl: string, signingKey: string): Promise<Server> {
  return start([here("bare-app.ts"), baseUrl, signingKey]);
}

export function startCollector(): Promise<Server> {
  return start([here("otlp-server.ts")]);
}

export function startFloor(): Promise<Server> {
  return start([here("floor-server.ts")]);
}

export function startBareClientByHttp(databaseUrl: string, rows: number): Promise<Server> {
  return start([here("postgres-floor.ts"), "http", databaseUrl, String(rows)]);
}

/** Runs the load generator to its end. */
export function load(url: string, connections: number, body: string, seconds: number): Promise<LoadResult> {
  return resultOf<LoadResult>([here("load.ts"), url, String(connections), body, String(seconds)]);
}

export interface DriveResult extends LoadResult {
  /** Requests. */
  perSecond: number;
  /** CPU seconds of the server for each request. */
  cpuPerRequest: number;
}

/** The same, where every request has to be answered with 200. The URL is the event API's unless given. */
export async function drive(
  server: Server,
  connections: number,
  body: string,
  seconds: number,
  url: string = `${server.url}/e/bench`,
): Promise<DriveResult> {
  const before = cpuSeconds(server) ?? Number.NaN;
  const result = await load(url, connections, body, seconds);
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`);
  const used = (cpuSeconds(server) ?? Number.NaN) - before;
  return { ...result, perSecond: result.requests / result.seconds, cpuPerRequest: used / result.allRequests };
}

/** What bare clients of PostgreSQL do in a second, alone. */
export function bareClients(clients: number, databaseUrl: string, rows: number, seconds: number): Promise<number> {
  return alone("postgres-floor.ts", clients, databaseUrl, rows, seconds);
}

export function bareClientsOfRuns(clients: number, databaseUrl: string, runs: RunGroups, seconds: number): Promise<number> {
  return alone("postgres-runs-floor.ts", clients, databaseUrl, groupSizes(runs), seconds);
}

async function alone(file: string, clients: number, databaseUrl: string, size: number | string, forSeconds: number): Promise<number> {
  const argv = [here(file), "alone", databaseUrl, String(size), String(forSeconds), String(clients)];
  const { events, seconds } = await resultOf<FloorResult>(argv);
  return events / seconds;
}

export function startBareClientOfRuns(databaseUrl: string, runs: RunGroups, call: FloorCall): Promise<Server> {
  return start([here("postgres-runs-floor.ts"), "http", databaseUrl, groupSizes(runs), JSON.stringify(call)]);
}

/** How many runs a transaction held, on average, when they began and when they ended. */
export interface RunGroups {
  begun: number;
  ended: number;
}

function groupSizes({ begun, ended }: RunGroups): string {
  return `${Math.round(begun)},${Math.round(ended)}`;
}

/** What a process prints before it ends: a line of JSON. */
async function resultOf<Result>(argv: string[]): Promise<Result> {
  const child = spawnNode(argv);
  let output = "";
  child.stdout.on("data", (chunk) => (output += chunk));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`${argv[0]} ended with code ${code}`);
  return JSON.parse(output) as Result;
}

/** CPU seconds used so far, by Linux's own account; null elsewhere. */
export function cpuSeconds({ child }: Server): number | null {
  const stat = readProcess(child, "stat");
  if (!stat) return null;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

export function residentMb({ child }: Server): number | null {
  const kib = /VmRSS:\s+(\d+) kB/.exec(readProcess(child, "status") ?? "")?.[1];
  return kib ? Number(kib) / 1024 : null;
}

async function start(argv: string[], variables: Record<string, string> = {}): Promise<Server> {
  const begun = performance.now();
  const child = spawnNode(argv, variables);
  let output = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      output += chunk;
      const match = /listening on (\S+)/.exec(output);
      if (match?.[1]) resolve(match[1]);
    });
    child.once("exit", (code) => reject(new Error(`${argv[0]} ended with code ${code} before it was ready`)));
  });
  const readyMs = performance.now() - begun;
  async function stop(): Promise<void> {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  return { url, output, readyMs, child, stop };
}

function spawnNode(argv: string[], variables: Record<string, string> = {}): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, ...variables } });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}

function readProcess({ pid }: ChildProcess, file: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return null;
  }
}

function here(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
