/** `inlet mcp`: passes on to a service what a client asks on standard input. */

import packageFile from "../../package.json" with { type: "json" };
import { type CommandResult, written } from "../command-line/command-result.ts";
import type { Call, Flags, Io } from "../command-line/command-row.ts";
import { reasonOf } from "../rest/fetch-fault.ts";
import type { Connection } from "../rest/rest-client.ts";

const TIMEOUT_MS = 120_000;

export async function serveMcp({ options, io }: Pick<Call<Flags>, "io"> & { options: Connection }): Promise<CommandResult> {
  const { serveMcpStdio } = await import("@inlet/server/mcp");
  const parts = {
    input: io.stdin,
    output: io.out,
    version: packageFile.version,
    post: (body: string) => post(options, body),
    onError: (error: Error) => note(io, error),
  };
  await serveMcpStdio(parts, io.interrupted());
  return written();
}

async function post({ url, apiKey, env }: Connection, body: string): Promise<{ status: number; text: string }> {
  const base = url.replace(/\/+$/, "");
  try {
    const response = await fetch(`${base}/mcp`, {
      method: "POST",
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: {
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
        ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }),
        ...(env !== null && { "x-service-env": env }),
      },
      body,
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new Error(
      `The service at ${base} cannot be reached: ${reasonOf(error, TIMEOUT_MS)}. Its URL is set with --url or INLET_BASE_URL.`,
    );
  }
}

/** Standard output is the protocol's own. */
function note({ err }: Io, { message }: Error): void {
  err.write(`${message}\n`);
}
