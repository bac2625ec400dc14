/** How an app written with a published SDK is registered, in what forms it is served, and when it is refused. */

import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { fastify } from "fastify";
import { test } from "../both-stores.ts";
import { clockBeforeMinute } from "../held-clock.ts";
import { onEnd } from "../on-end.ts";
import { endedRun, isEnded, runDetails, runsOfEvent, runsOfFunction, until } from "../runs.ts";
import { EVENT_KEY, startTestService, type TestService } from "../service.ts";
import { serveApp, syncApp } from "./app-server.ts";
import type { Client, ClientOptions, PublishedSdk } from "./published-sdk.ts";
import { BARE_SIGNING_KEY, PREFIXED_SIGNING_KEY } from "./sdk-checks.ts";

function startSigned(t: TestContext): Promise<TestService> {
  return startTestService(t, { flags: ["--retry-interval", "50ms", "--signing-key", PREFIXED_SIGNING_KEY] });
}

function clientOf(sdk: PublishedSdk, service: TestService, options: Partial<ClientOptions> = {}): Client {
  const signing = { signingKey: PREFIXED_SIGNING_KEY };
  return sdk.client({ id: "app", baseUrl: service.url, eventKey: EVENT_KEY, isDev: false, ...signing, ...options });
}

const greet = (client: Client, id = "greet", text = "hello") =>
  client.createFunction({ id }, [{ event: "app/greet" }], async ({ step, event }) => {
    const name = await step.run("name", () => event.data.name as string);
    return `${text} ${name}`;
  });

async function greeting(service: TestService, client: Client, name: string): Promise<unknown> {
  const { ids } = await client.send({ name: "app/greet", data: { name } });
  const run = await endedRun(service, ids[0] as string);
  assert.equal(run.status, "completed", JSON.stringify(run));
  return run.output;
}

/** The PUT by which an app is told to register, as the app's owner sends it. */
async function register(url: string): Promise<{ modified: boolean; message: string; status: number }> {
  const response = await fetch(url, { method: "PUT" });
  return { status: response.status, ...((await response.json()) as { modified: boolean; message: string }) };
}

export function checkSyncs(sdk: PublishedSdk): void {
  test(`SDK ${sdk.name}: an app that syncs unchanged is left alone; a function it no longer has is not started`, async (t) => {
    const service = await startTestService(t, { mode: "dev" });
    const client = clientOf(sdk, service, { isDev: true });
    let functions = [greet(client), greet(client, "second", "good day")];
    const app = await serveApp(t, (request, response) => sdk.listener(client, functions)(request, response));
    assert.equal((await register(app.url)).modified, true);
    assert.equal((await register(app.url)).modified, false);
    const { body } = await service.rest("GET", "/apps");
    assert.deepEqual([body.data.length, body.data[0].functions, body.data[0].error], [1, 2, null]);
    functions = [greet(client)];
    assert.equal((await register(app.url)).modified, true);
    const { ids } = await client.send({ name: "app/greet", data: { name: "you" } });
    await endedRun(service, ids[0] as string, "app-greet");
    assert.deepEqual(
      (await runsOfEvent(service, ids[0] as string)).map((run) => run.function.id),
      ["app-greet"],
    );
    assert.deepEqual(
      (await service.rest("GET", "/functions")).body.data.map(({ id }: { id: string }) => id),
      ["app-greet"],
    );
  });

  test(`SDK ${sdk.name}: an app of a branch registers there, and runs there only`, async (t) => {
    const service = await startSigned(t);
    const branch = { "x-service-env": "feature/cart" };
    const { body } = await service.rest("POST", "/keys", { body: { kind: "event", name: "b" }, headers: { "x-service-env": "branch" } });
    const client = clientOf(sdk, service, { env: "feature/cart", eventKey: body.data.key });
    const app = await serveApp(t, sdk.listener(client, [greet(client)], PREFIXED_SIGNING_KEY));
    await syncApp(service, app.url);
    const { ids } = await client.send({ name: "app/greet", data: { name: "branch" } });
    assert.equal((await endedRun(service, ids[0] as string, undefined, branch)).output, "hello branch");
    assert.equal((await service.rest("GET", "/functions")).body.data.length, 0, "nothing is registered in production");
    const sent = await service.send({ name: "app/greet", data: { name: "x" } });
    assert.deepEqual(await runsOfEvent(service, sent.body.ids[0]), []);
  });

  test(`SDK ${sdk.name}: an app that cannot reach the service is synced by its response, which it has to sign`, async (t) => {
    const service = await startSigned(t);
    const away = clientOf(sdk, service, { baseUrl: "http://127.0.0.1:1" });
    const listener = sdk.listener(away, [greet(away)], PREFIXED_SIGNING_KEY);
    let forged = false;
    const app = await serveApp(t, (request, response) => {
      const { writeHead } = response;
      if (forged)
        response.writeHead = ((status: number, headers: Record<string, string>) =>
          writeHead.call(response, status, { ...headers, "x-inngest-signature": `t=1&s=${"0".repeat(64)}` })) as never;
      listener(request, response);
    });
    forged = true;
    const refused = await service.rest("POST", "/apps", { body: { url: app.url } });
    assert.deepEqual([refused.status, refused.body.code], [502, "app_unreachable"]);
    assert.match(refused.body.error, /did not sign/);
    forged = false;
    const synced = await syncApp(service, app.url);
    assert.deepEqual([synced.name, synced.functions, new URL(synced.url).pathname], ["app", 1, "/api/inngest"]);
    assert.equal(await greeting(service, clientOf(sdk, service), "in band"), "hello in band");
  });

  test(`SDK ${sdk.name}: an app with another signing key is refused, whoever begins`, async (t) => {
    const service = await startSigned(t);
    const wrongKey = "f".repeat(64);
    const stranger = clientOf(sdk, service, { id: "stranger", signingKey: wrongKey });
    const app = await serveApp(t, sdk.listener(stranger, [greet(stranger)], wrongKey));
    const refused = await service.rest("POST", "/apps", { body: { url: app.url } });
    assert.deepEqual([refused.status, refused.body.code], [502, "app_unreachable"]);
    assert.deepEqual((await service.rest("GET", "/functions")).body.data, []);
    assert.notEqual((await register(app.url)).status, 200);
    assert.deepEqual((await service.rest("GET", "/functions")).body.data, []);
  });

  test(`SDK ${sdk.name}: a body that fastify has parsed passes the check of its signature`, async (t) => {
    const service = await startTestService(t, { flags: ["--signing-key", BARE_SIGNING_KEY] });
    const client = clientOf(sdk, service, { signingKey: BARE_SIGNING_KEY });
    const server = fastify();
    sdk.onFastify(server, client, [greet(client)], BARE_SIGNING_KEY);
    const address = await server.listen({ port: 0, host: "127.0.0.1" });
    onEnd(t, () => server.close());
    await syncApp(service, `${address}/api/inngest`);
    const name = "é ✓ \u{1F600} \u2028 1.0e3";
    assert.equal(await greeting(service, client, name), `hello ${name}`);
  });

  test(`SDK ${sdk.name}: streamed answers are taken`, async (t) => {
    const service = await startSigned(t);
    const client = clientOf(sdk, service);
    const statuses: number[] = [];
    const failing = client.createFunction({ id: "failing", retries: 0 }, [{ event: "app/fail" }], () => {
      throw new Error("streamed failure");
    });
    const listener = sdk.streaming(client, [greet(client), failing], PREFIXED_SIGNING_KEY);
    const app = await serveApp(t, (request, response) => {
      if (request.method === "POST") response.on("finish", () => statuses.push(response.statusCode));
      listener(request, response);
    });
    await syncApp(service, app.url);
    assert.equal(await greeting(service, client, "stream"), "hello stream");
    const { ids } = await client.send({ name: "app/fail", data: {} });
    const failed = await endedRun(service, ids[0] as string);
    assert.deepEqual([failed.status, failed.error?.message], ["failed", "streamed failure"]);
    assert.ok(statuses.length >= 2 && statuses.every((status) => status === 201), `answered with ${statuses}`);
  });

  test(`SDK ${sdk.name}: a schedule starts its function, once a tick`, async (t) => {
    const clock = clockBeforeMinute();
    const service = await startTestService(t, { mode: "dev", now: clock.now });
    const client = clientOf(sdk, service, { isDev: true });
    const tick = client.createFunction({ id: "tick" }, [{ cron: "TZ=Europe/Berlin * * * * *" }], ({ event }) => event);
    const app = await serveApp(t, sdk.listener(client, [tick]));
    await syncApp(service, app.url);
    clock.go();
    const run = await until("a tick", async () => (await runsOfFunction(service, "app-tick")).find(isEnded));
    const { status, cron, output } = await runDetails(service, run.id);
    assert.deepEqual([status, cron], ["completed", "TZ=Europe/Berlin * * * * *"]);
    assert.deepEqual([output.name, output.data.cron], ["inngest/scheduled.timer", "TZ=Europe/Berlin * * * * *"]);
    assert.deepEqual(Object.keys(output.data).sort(), ["cron", "fireAt", "scheduledAt"]);
    assert.equal((await runsOfFunction(service, "app-tick")).length, 1);
  });
}
