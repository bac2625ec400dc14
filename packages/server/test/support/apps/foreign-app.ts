/**
 * Apps that another program serves: an SDK of another language. One process serves all apps of a test file: each is asked for by a line on
 * its standard input, and is there once a line says on which port.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";

const START_TIMEOUT_MS = 300_000;

export interface ForeignAppSettings {
  id: string;
  service: string;
  isDev: boolean;
  eventKey: string;
  signingKey?: string;
  signingKeyFallback?: string;
  /** The framework, or whether answers are streamed. */
  kind: string;
}

export class ForeignApps {
  readonly #command: readonly string[];
  #child: ChildProcess | null = null;
  readonly #waiting: { resolve(url: string): void; reject(error: Error): void }[] = [];

  constructor(command: readonly string[]) {
    this.#command = command;
  }

  /** Resolves with the address of the app's endpoint. */
  serve(settings: ForeignAppSettings): Promise<string> {
    this.#child ??= this.#start();
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => reject(new Error(`the app ${settings.id} did not start`)), START_TIMEOUT_MS);
      const settle =
        <Value>(then: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timeout);
          then(value);
        };
      this.#waiting.push({ resolve: settle(resolve), reject: settle(reject) });
      this.#child?.stdin?.write(`${JSON.stringify(settings)}\n`);
    });
  }

  stop(): void {
    this.#child?.kill("SIGKILL");
  }

  #start(): ChildProcess {
    const [program = "", ...args] = this.#command;
    const child = spawn(program, args, { env: { PATH: process.env.PATH ?? "" }, stdio: ["pipe", "pipe", "pipe"] });
    let errors = "";
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => (errors += chunk));
    createInterface(child.stdout).on("line", (line) => {
      const port = /^listening on (\d+)$/.exec(line)?.[1];
      if (port !== undefined) this.#waiting.shift()?.resolve(`http://127.0.0.1:${port}/api/inngest`);
    });
    child.once("exit", (code) => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(`the app ended with ${code}: ${errors}`));
    });
    return child;
  }
}
