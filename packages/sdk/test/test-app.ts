/** An app for a test: a client in dev with a recording service behind it, and its functions served over real HTTP. */

import type { TestContext } from "node:test";
import { Inlet, type InletFunction } from "@inlet/sdk";
import { serve } from "@inlet/sdk/node";
import { type DrivenRun, type DriveOptions, driveRun } from "./drive-run.ts";
import { listen } from "./listen.ts";
import { type RecordingService, startRecordingService } from "./recording-service.ts";

export const quiet = { debug() {}, info() {}, warn() {}, error() {} };

export async function testApp(t: TestContext): Promise<{ inlet: Inlet; service: RecordingService }> {
  const service = await startRecordingService(t);
  return { inlet: new Inlet({ id: "shop", isDev: true, baseUrl: service.url, logger: quiet }), service };
}

/** One run of a function, from its event to its end. */
export async function run(t: TestContext, fn: InletFunction, options: Omit<DriveOptions, "url" | "functionId"> = {}): Promise<DrivenRun> {
  const url = await listen(t, serve({ client: fn.client, functions: [fn] }));
  return driveRun({ url: `${url}/api/inlet`, functionId: `${fn.client.id}-${fn.id}`, ...options });
}

export interface Operation {
  op: string;
  name: string;
  displayName: string;
  opts: Record<string, unknown>;
  error?: Error;
}

/** The operations of a call that answered 206. */
export function operationsOf(run: DrivenRun, call: number): Operation[] {
  return run.calls[call]?.body as Operation[];
}
