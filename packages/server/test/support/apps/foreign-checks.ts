/**
 * What functions of SDKs of other languages must see, in dev and with signatures, on both stores. The apps have functions of the same
 * names, started by events that begin with the app's id.
 */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, type TestContext, test } from "node:test";
import { onEnd } from "../on-end.ts";
import { migratedDatabase, whyNoPostgres } from "../postgres.ts";
import { endedRun, runsOfEvent, until } from "../runs.ts";
import { EVENT_KEY, SIGNING_KEY, startTestService, type TestService } from "../service.ts";
import { syncApp } from "./app-server.ts";
import { checkEnvironmentKeys } from "./environment-key-checks.ts";
import { type ForeignAppSettings, ForeignApps } from "./foreign-app.ts";
import { checkRotation } from "./rotation-checks.ts";
import { ROWS_AT_ONCE } from "./running-sdk.ts";

export interface ForeignSdk {
  name: string;
  /** Why it cannot be tested here. */
  skip: string | false;
  /** Serves the apps. */
  command: readonly string[];
  hasSignals: boolean;
  /** What the function with every kind of step returns. */
  expected: object;
  /** What the function `child` returns for 21. */
  doubled: object;
}

export interface ForeignSetting {
  mode: "dev" | "start";
  store: "sqlite" | "postgres";
  /** Of the apps, all on one service. */
  kinds: readonly string[];
}

/** A service for each row of the table, and for all of them one process that serves the apps. */
export function checkForeignSdk(sdk: ForeignSdk, table: readonly ForeignSetting[]): void {
  const apps = new ForeignApps(sdk.command);
  after(() => apps.stop());
  test(sdk.name, { skip: sdk.skip, concurrency: ROWS_AT_ONCE }, async (t) => {
    await Promise.all(table.map((row) => checkRow(t, sdk, apps, row)));
  });
}

function checkRow(t: TestContext, sdk: ForeignSdk, apps: ForeignApps, { mode, store, kinds }: ForeignSetting): Promise<void> {
  const skip = (store === "postgres" && whyNoPostgres()) || false;
  return t.test(`${mode}, ${store}`, { skip, concurrency: true }, async (row) => {
    const databaseUrl = store === "postgres" ? { databaseUrl: await migratedDatabase(row) } : {};
    const service = await startTestService(row, { mode, flags: ["--retry-interval", "50ms"], ...databaseUrl });
    const common = { service: service.url, isDev: mode === "dev", eventKey: EVENT_KEY };
    const serve = (id: string, kind: string, keys: Pick<ForeignAppSettings, "signingKey" | "signingKeyFallback">) =>
      apps.serve({ ...common, id, kind, ...(mode === "start" && keys) });
    const check = async (kind: string) => {
      const app = await syncApp(service, await serve(kind, kind, { signingKey: SIGNING_KEY }));
      assert.deepEqual([app.name, app.functions], [kind, 4]);
      const [output] = await Promise.all([runEverything(row, service, kind, sdk.hasSignals), checkFailures(service, kind)]);
      assert.deepEqual(output, sdk.expected);
    };
    await Promise.all(kinds.map((kind) => row.test(kind, () => check(kind))));
    const [kind = ""] = kinds;
    const rotating = { signingKey: SIGNING_KEY, event: { name: "rotating/child", data: { number: 21 } }, output: sdk.doubled };
    if (mode === "dev") return;
    const keyed = { ...rotating, serve: (keys: Pick<ForeignAppSettings, "signingKey">) => serve("rotating", kind, keys) };
    await row.test("with the keys of its environment", () => checkEnvironmentKeys(service, keyed));
    await row.test("its signing key is rotated", () => checkRotation(service, keyed));
  });
}

/** One function with every kind of step: sends what it waits for as it comes to it, and returns its output. */
async function runEverything(t: TestContext, service: TestService, prefix: string, hasSignals: boolean): Promise<unknown> {
  const key = `key-${prefix}`;
  const { body } = await service.send({ name: `${prefix}/all`, data: { key, url: await startEcho(t) } });
  const [eventId] = body.ids;
  const waitsFor = (name: string) =>
    until(name, async () => {
      const [run] = await runsOfEvent(service, eventId);
      const details = run && (await service.rest("GET", `/runs/${run.id}`)).body.data;
      if (details?.endedAt) throw new Error(`ended early: ${JSON.stringify(details).slice(0, 3_000)}`);
      return details?.steps.some((step: { name: string; status: string }) => step.name === name && step.status === "waiting")
        ? true
        : undefined;
    });
  await waitsFor("answer");
  await service.send({ name: `${prefix}/answer`, data: { key: "another", n: 1 } });
  await service.send({ name: `${prefix}/answer`, data: { key, n: 2 } });
  if (hasSignals) {
    await waitsFor("signal");
    assert.equal((await service.rest("POST", "/signals", { body: { signal: `go ${key}`, data: { by: "Ada" } } })).status, 200);
  }
  const run = await endedRun(service, eventId);
  assert.equal(run.status, "completed", JSON.stringify(run).slice(0, 3_000));
  const { body: heard } = await service.rest("GET", `/events?name=${prefix}/heard`);
  assert.equal(heard.data.length, 1, "an event that a step sent");
  return run.output;
}

async function checkFailures(service: TestService, prefix: string): Promise<void> {
  const sent = await service.send([
    { name: `${prefix}/fails`, data: {} },
    { name: `${prefix}/gives-up`, data: {} },
  ]);
  const [fails, givesUp] = await Promise.all(sent.body.ids.map((id: string) => endedRun(service, id)));
  assert.deepEqual([fails.status, fails.attempts.filter(({ stepId }: { stepId: string | null }) => stepId !== null).length], ["failed", 2]);
  assert.deepEqual([givesUp.status, givesUp.attempts.length], ["failed", 1], JSON.stringify(givesUp).slice(0, 2_000));
  assert.match(givesUp.error.message, /no use/);
}

/** Answers with the credentials it was given. */
async function startEcho(t: TestContext): Promise<string> {
  const server = createServer((request, response) =>
    response.end(JSON.stringify({ authorization: request.headers.authorization ?? null })),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
