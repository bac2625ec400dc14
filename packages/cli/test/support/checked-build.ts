/** A build of an app that is checked before it is deployed, with our SDK or a published one. */

import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Inlet } from "@inlet/sdk";
import { serve as serveInlet } from "@inlet/sdk/node";
import { loadUntyped, SILENT_LOGGER } from "../../../server/test/support/apps/published-sdk.ts";
import { onEnd } from "../../../server/test/support/on-end.ts";
import { until } from "../../../server/test/support/runs.ts";
import { EVENT_KEY, startDev, type WorkingFolder, workingFolder } from "./working-folder.ts";

export const RUNS = 3;

interface Steps {
  run(id: string, work: () => unknown): Promise<unknown>;
  sleep(id: string, time: string): Promise<void>;
}
type Work = (step: Steps) => Promise<unknown>;

/** Serves one function, `check-work`, on `check/go`. */
export type Serve = (service: string, work: Work, signingKey?: string) => Promise<RequestListener>;

export const inlet: Serve = async (service, work, signingKey) => {
  const keys = signingKey === undefined ? { isDev: true } : { isDev: false, signingKey, eventKey: EVENT_KEY };
  const client = new Inlet({ id: "check", baseUrl: service, ...keys });
  const fn = client.createFunction({ id: "work" }, { event: "check/go" }, ({ step }) => work(step as unknown as Steps));
  return serveInlet({ client, functions: [fn] });
};

export function published(version: "inngest" | "inngest-v3"): Serve {
  return async (service, work) => {
    const { Inngest } = await loadUntyped(version);
    const { serve } = await loadUntyped(`${version}/node`);
    const client = new Inngest({ id: "check", baseUrl: service, isDev: true, logger: SILENT_LOGGER });
    const body = ({ step }: { step: Steps }) => work(step);
    const triggers = [{ event: "check/go" }];
    const fn =
      version === "inngest"
        ? client.createFunction({ id: "work", triggers }, body)
        : client.createFunction({ id: "work" }, triggers[0], body);
    return serve({ client, functions: [fn] });
  };
}

export async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/inlet`;
}

export const asDeployed: Work = async (step) => {
  await step.run("label", () => "label");
  await step.sleep("nap", "1h");
  await step.run("send", () => "sent");
};

/** Runs that sleep in the deployed build. */
export async function sleepingRuns(t: TestContext, place: WorkingFolder, app: RequestListener): Promise<void> {
  const synced = await place.inlet(["apps", "sync", await listen(t, app)]);
  assert.equal(synced.code, 0, synced.stderr);
  const events = Array.from({ length: RUNS }, () => JSON.stringify({ name: "check/go", data: { big: 0.1 } })).join("\n");
  assert.equal((await place.inlet(["send"], events)).code, 0);
  await until("the runs sleep", async () => {
    const { stdout } = await place.inlet(["runs", "list", "--status", "sleeping", "--json"]);
    return JSON.parse(stdout).data.length === RUNS || undefined;
  });
}

/** A renamed step is a line for each run that waits in it, and no step runs. */
export async function checkBuilds(t: TestContext, serve: Serve): Promise<void> {
  const url = await startDev(t);
  const place = workingFolder(t, { INLET_BASE_URL: url });
  await sleepingRuns(t, place, await serve(url, asDeployed));
  const ran: string[] = [];
  const build = async (nap: string, more: Work = async () => undefined) =>
    listen(
      t,
      await serve(url, async (step) => {
        await step.run("label", () => ran.push("label"));
        await step.sleep(nap, "1h");
        await more(step);
        await step.run("send", () => ran.push("send"));
      }),
    );
  const same = await place.inlet([
    "apps",
    "check",
    await build("nap", async (step) => void (await step.run("added", () => ran.push("added")))),
  ]);
  assert.deepEqual([same.code, same.stdout], [0, "The new build of check knows the next step of all 3 runs that have one.\n"], same.stderr);

  const renamed = await place.inlet(["apps", "check", await build("rest")]);
  assert.equal(renamed.code, 1, renamed.stderr);
  const lines = renamed.stdout.trimEnd().split("\n");
  assert.equal(lines.length, RUNS + 1);
  for (const line of lines.slice(0, RUNS)) assert.match(line, /^\S+ {2}check-work {2}sleeping in "nap": the new build does not know it$/);
  assert.equal(lines[RUNS], "3 of 3 runs of check would not go on with the new build.");

  const ended = await place.inlet([
    "apps",
    "check",
    await listen(t, await serve(url, async (step) => void (await step.run("label", () => ran.push("label"))))),
  ]);
  assert.match(ended.stdout, /the function would end before it/);
  assert.deepEqual(ran, [], "no step ran");
  const { stdout } = await place.inlet(["runs", "list", "--status", "sleeping", "--json"]);
  assert.equal(JSON.parse(stdout).data.length, RUNS, "and the runs sleep on");
}
