/** A service, and an app of a published SDK that uses every feature: what checks are made on. */

import type { TestContext } from "node:test";
import { migratedDatabase } from "../postgres.ts";
import { endedRun, type ShownRun } from "../runs.ts";
import { EVENT_KEY, startTestService, type TestService } from "../service.ts";
import { serveApp, syncApp } from "./app-server.ts";
import { featureFunctions, Journal } from "./feature-app.ts";
import type { Client, PublishedSdk } from "./published-sdk.ts";
import type { RotatingApp } from "./rotation-checks.ts";

export const BARE_SIGNING_KEY = "0123456789abcdef".repeat(4);
export const PREFIXED_SIGNING_KEY = `signkey-prod-${BARE_SIGNING_KEY}`;

/** Most of the time they wait, so two rows of a table of modes and stores are tested at a time. */
export const ROWS_AT_ONCE = 2;

export interface SdkSetting {
  sdk: PublishedSdk;
  mode: "dev" | "start";
  store: "sqlite" | "postgres";
  /** `main`: one of each feature. */
  cases: "main" | "all";
  /** Of v4 only. */
  checkpointing?: boolean | { bufferedSteps: number };
  signingKey?: string;
}

export interface Running {
  setting: SdkSetting;
  service: TestService;
  client: Client;
  journal: Journal;
  /** Sends `app/<name>` with a key of its own, and returns the run of that function once it has ended. */
  run(name: string, data?: object): Promise<{ run: ShownRun; key: string; eventId: string }>;
  send(name: string, data?: object): Promise<{ key: string; eventId: string; ended(): Promise<ShownRun> }>;
}

export type Checks = Readonly<Record<string, (running: Running) => Promise<void>>>;

export async function startRunning(t: TestContext, setting: SdkSetting): Promise<Running> {
  const { sdk, mode, store, checkpointing, signingKey } = setting;
  const flags = ["--retry-interval", "50ms", ...(signingKey ? ["--signing-key", signingKey] : [])];
  const service = await startTestService(t, { mode, flags, ...(store === "postgres" && { databaseUrl: await migratedDatabase(t) }) });
  const client = sdk.client({
    id: "app",
    baseUrl: service.url,
    eventKey: EVENT_KEY,
    isDev: mode === "dev",
    ...(signingKey && { signingKey }),
    ...(checkpointing !== undefined && { checkpointing }),
  });
  const journal = new Journal();
  const app = await serveApp(t, sdk.listener(client, featureFunctions(sdk, client, journal), signingKey));
  await syncApp(service, app.url);
  let keys = 0;
  const send: Running["send"] = async (name, data = {}) => {
    const key = `${name}-${++keys}`;
    const { ids } = await client.send({ name: `app/${name}`, data: { key, ...data } });
    const eventId = ids[0] as string;
    return { key, eventId, ended: () => endedRun(service, eventId, `app-${name}`) };
  };
  const run: Running["run"] = async (name, data) => {
    const sent = await send(name, data);
    return { ...sent, run: await endedRun(service, sent.eventId, `app-${name}`) };
  };
  return { setting, service, client, journal, run, send };
}

/** An app of the same SDK that is served with other keys time and again. Its step reports to the service by its key, where the SDK does. */
export function rotatingApp(t: TestContext, { setting: { sdk, signingKey = "" }, service }: Running): RotatingApp {
  const serve: RotatingApp["serve"] = async (keys) => {
    const options = { id: "rotating", baseUrl: service.url, eventKey: EVENT_KEY, isDev: false, ...keys };
    const client = sdk.client(options);
    const rotating = client.createFunction({ id: "run", retries: 0 }, [{ event: "rotating/run" }], async ({ step }) => {
      await step.sendSignal("signal", { signal: "nobody waits" });
      return step.run("number", () => 42);
    });
    return (await serveApp(t, sdk.listener(client, [rotating], keys.signingKey, keys.signingKeyFallback))).url;
  };
  return { serve, signingKey, event: { name: "rotating/run", data: {} }, output: 42 };
}
