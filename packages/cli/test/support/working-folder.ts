/** A temporary folder in which a test runs `inlet` as a person or a CI job would. Cleaned up after the test. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { type Ended, startInlet } from "../../../server/test/support/process.ts";
import { temporaryFolder } from "../../../server/test/support/service.ts";

const CLI = fileURLToPath(new URL("../../bin/inlet.js", import.meta.url));

export const API_KEY = "ak_test";

export interface WorkingFolder {
  folder: string;
  /** Runs `inlet webhooks <argv>` in the folder, to its end. */
  webhooks(...argv: string[]): Promise<Ended>;
  /** The same with --json: its exit code, and what it printed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  json(...argv: string[]): Promise<{ code: number | null; body: any }>;
  write(file: string, text: string): void;
  /** Changes some fields of a JSON file. */
  edit(file: string, fields: Record<string, unknown>): void;
  read(file: string): string;
  exists(file: string): boolean;
}

export function workingFolder(t: TestContext, variables: Record<string, string> = {}): WorkingFolder {
  const folder = temporaryFolder(t);
  const at = (file: string) => join(folder, file);
  const webhooks = (...argv: string[]) => run(folder, ["webhooks", ...argv], variables);
  const write = (file: string, text: string) => {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), text);
  };
  const read = (file: string) => readFileSync(at(file), "utf8");
  return {
    folder,
    webhooks,
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
export async function startServer(t: TestContext) {
  const argv = ["start", "--port", "0", "--host", "127.0.0.1", "--data-dir", temporaryFolder(t), "--api-key", API_KEY];
  const { url } = await startInlet(t, argv);
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
  return { url, rest, variables: { SERVICE_BASE_URL: url, SERVICE_API_KEY: API_KEY } };
}

async function run(cwd: string, argv: string[], variables: Record<string, string>): Promise<Ended> {
  const env = { PATH: process.env.PATH, ...variables };
  const child = spawn(process.execPath, [CLI, ...argv], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (chunk) => (stdout += chunk));
  child.stderr.on("data", (chunk) => (stderr += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}
