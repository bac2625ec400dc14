/** The service as a process, on the store of its test, and an app without an SDK: one run at a time, looked at step by step. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { BareApp } from "./bare-app.ts";
import { type InletProcess, PATIENT_DATABASE_TIMEOUT, runInlet, startInlet } from "./process.ts";
import { isEnded, until } from "./runs.ts";
import { call, temporaryFolder } from "./service.ts";
import { storeFlags } from "./store-flags.ts";

export interface OneRun {
  app: BareApp;
  dataDir: string;
  /** Of PostgreSQL, past anything that stands between. */
  databaseUrl?: string;
  inlet: InletProcess;
  /** Kills the service, and waits until the app has got all that it sent. */
  kill(): Promise<void>;
  /** Starts the service again; the one before has ended. */
  restart(): Promise<InletProcess>;
  /** The same for a service that kills itself when it calls the app for this run. Waits until it has. */
  dieOf(runId: string): Promise<void>;
  /** Sends the event that starts a run, and returns its id. */
  begin(): Promise<string>;
  /** This run once it has ended; without an id, the only one there is. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  ended(runId?: string): Promise<any>;
}

export interface OneRunOptions {
  /** Of the embedded store. */
  dataDir?: string;
  retryInterval?: string;
  drainTimeout?: string;
  /** Longer where losing one would fail the test. */
  lease?: string;
  /** The URL by which the service reaches its database. */
  reachDatabase?(url: string): Promise<string>;
}

/** A module for a service to load first. Its variable names the run. */
const DIE_OF_CALL = `data:text/javascript,${encodeURIComponent(`
  import { subscribe } from "node:diagnostics_channel";
  const die = ({ request }) => String(request.body).includes(process.env.TEST_DEADLY_RUN) && process.kill(process.pid, "SIGKILL");
  subscribe("undici:request:create", die);`)}`;

export async function startOneRun(t: TestContext, options: OneRunOptions = {}): Promise<OneRun> {
  const { dataDir = temporaryFolder(t), retryInterval = "50ms", drainTimeout = "60s", lease, reachDatabase } = options;
  const {
    flags: store,
    databaseUrl,
    passLeases,
  } = await storeFlags(t, {
    dataDir,
    ...(lease !== undefined && { lease }),
    ...(reachDatabase && { reachDatabase }),
  });
  const flags = ["--port", "0", "--retry-interval", retryInterval, "--drain-timeout", drainTimeout, ...store];
  const start = () => startInlet(t, ["dev", ...flags]);
  const app = await BareApp.start(t);
  const scene: OneRun = {
    app,
    dataDir,
    ...(databaseUrl !== undefined && { databaseUrl }),
    inlet: await start(),
    async kill() {
      await scene.inlet.end("SIGKILL");
      await app.connectionsEnded();
    },
    async restart() {
      await passLeases();
      scene.inlet = await start();
      return scene.inlet;
    },
    async dieOf(runId) {
      await passLeases();
      const usual = { INLET_DISCOVER: "off", INLET_DATABASE_TIMEOUT: PATIENT_DATABASE_TIMEOUT };
      const env = { ...usual, NODE_OPTIONS: `--import=${DIE_OF_CALL}`, TEST_DEADLY_RUN: runId };
      const { code, stderr } = await runInlet(t, ["dev", ...flags], env);
      assert.equal(code, null, stderr);
      await app.connectionsEnded();
    },
    async begin() {
      const { status, text, body } = await call(`${scene.inlet.url}/e/key`, { method: "POST", body: '{"name":"bare/begin","data":{}}' });
      assert.equal(status, 200, text);
      return body.ids[0];
    },
    async ended(runId) {
      const id = runId ?? (await onlyRun(scene.inlet.url));
      return until(`the end of run ${id}`, async () => {
        const run = (await call(`${scene.inlet.url}/v1/runs/${id}`)).body.data;
        return isEnded(run) ? run : undefined;
      });
    },
  };
  await app.register(scene.inlet.url);
  return scene;
}

async function onlyRun(url: string): Promise<string> {
  const { data } = (await call(`${url}/v1/runs`)).body;
  assert.equal(data.length, 1, "there is one run");
  return data[0].id;
}
