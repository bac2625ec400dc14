/** The process as its operator meets it: first start, flags and variables, taken ports, draining, logs without secrets. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, openSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { createInterface } from "node:readline";
import { test as nodeTest, type TestContext } from "node:test";
import { test } from "./support/both-stores.ts";
import { curlCommands } from "./support/curl.ts";
import { onEnd } from "./support/on-end.ts";
import { BARE_ENVIRONMENT, INLET_BIN, INLET_NODE, runInlet, spawnInlet, startInlet } from "./support/process.ts";
import { call, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";

const here = async (t: TestContext) => [
  "--port",
  "0",
  "--host",
  "127.0.0.1",
  ...(await storeFlags(t, { dataDir: temporaryFolder(t) })).flags,
];

test("a first start prints keys once, with commands that work when pasted", async (t) => {
  const flags = await here(t);
  const first = await startInlet(t, ["start", ...flags]);
  const [send, list] = curlCommands(first.stdout());
  assert.ok(send && list, first.stdout());
  const sent = await call(send.url, send.init);
  assert.equal(sent.status, 200);
  const listed = await call(list.url, list.init);
  assert.deepEqual(
    listed.body.data.map((event: { id: string }) => event.id),
    sent.body.ids,
  );
  for (const label of ["event key (production)", "event key (all branches)", "signing key", "API key"]) {
    assert.ok(first.stdout().includes(label), label);
  }
  const link = /^ {2}(http:\S+)\/login#token=(\S+)$/m.exec(first.stdout());
  assert.ok(link?.[1] && link[2], "a link to sign in by");
  const signIn = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ loginToken: link[2] }) };
  assert.equal((await call(`${link[1]}/v1/session`, signIn)).status, 201);
  assert.equal((await call(`${link[1]}/v1/session`, signIn)).status, 401, "it works once");
  assert.ok(!first.stderr().includes(link[2]), "the log has no token");
  await first.end("SIGTERM");

  const second = await startInlet(t, ["start", ...flags]);
  assert.ok(!/evk_|ak_|signkey-/.test(second.stdout() + second.stderr()), "keys are shown once");
  assert.ok(!second.stdout().includes("/login#"), "and output that nobody looks at holds no link");
});

test("keys given as flags or variables are used instead of generated ones", async (t) => {
  const inlet = await startInlet(t, ["start", ...(await here(t)), "--event-key", "mine"], {
    INLET_API_KEY: "my-api-key",
    SERVICE_SIGNING_KEY: `signkey-prod-${"00ff".repeat(8)}`,
    INLET_PROT: "8288",
  });
  await inlet.logged(/^warning: INLET_PROT is not a variable of Inlet and has no effect; did you mean INLET_PORT\?$/m);
  assert.ok(!/ak_|signkey-/.test(inlet.stdout()));
  assert.equal((await call(`${inlet.url}/e/mine`, { method: "POST", body: '{"name":"a/b","data":{}}' })).status, 200);
  assert.equal((await call(`${inlet.url}/v1/events`, { headers: { authorization: "Bearer my-api-key" } })).status, 200);
});

nodeTest("flags win over variables, and each mistake is named", async (t) => {
  const { code, stderr } = await runInlet(t, ["start", "--port", "70000", "--dedupwindow", "1h", "--body-limit"], {
    INLET_LOG_LEVEL: "loud",
  });
  assert.equal(code, 2);
  assert.match(stderr, /--port must be a whole number from 0 to 65535, not "70000"/);
  assert.match(stderr, /--dedupwindow is not a flag of this command; did you mean --dedup-window\?/);
  assert.match(stderr, /--body-limit needs a value/);
  assert.match(stderr, /INLET_LOG_LEVEL must be one of/);
});

nodeTest("a taken port is named", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  onEnd(t, () => other.close());
  await new Promise((resolve) => other.once("listening", resolve));
  const { port } = other.address() as AddressInfo;
  const { code, stderr } = await runInlet(t, ["start", "--host", "127.0.0.1", "--data-dir", temporaryFolder(t), "--port", String(port)]);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`port ${port} .*is taken.*--port`));
});

nodeTest("a host that this machine is not is named", async (t) => {
  const host = "203.0.113.7";
  const { code, stderr } = await runInlet(t, ["start", "--host", host, "--data-dir", temporaryFolder(t), "--port", "0"]);
  assert.deepEqual([code, stderr], [1, `error: this machine has no address ${host} to listen on; see --host.\n`]);
});

nodeTest("help and version", async (t) => {
  const overview = await runInlet(t, ["--help"]);
  assert.equal(overview.code, 0);
  assert.match(overview.stdout, /inlet dev[\s\S]*inlet start/);
  const start = await runInlet(t, ["start", "--help"]);
  assert.match(start.stdout, /--dedup-window <duration>[\s\S]*INLET_DEDUP_WINDOW, default 24h/);
  assert.match((await runInlet(t, ["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
  const unknown = await runInlet(t, ["begin"]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no command "begin"/);
});

test("health and readiness", async (t) => {
  const inlet = await startInlet(t, ["dev", ...(await here(t))]);
  const health = await call(`${inlet.url}/health`);
  assert.deepEqual([health.status, health.body], [200, { status: 200, message: "OK" }]);
  const { status, body } = await call(`${inlet.url}/ready`);
  assert.deepEqual([status, body.status, body.message, body.lagMs], [200, 200, "OK", 0]);
  assert.equal(body.store.schema, body.store.schemaKnown);
  assert.deepEqual(
    body.nodes.map(({ state }: { state: string }) => state),
    ["alive"],
  );
});

nodeTest("dev: open, on loopback, any key; on all interfaces it warns", async (t) => {
  const dataDir = temporaryFolder(t);
  const inlet = await startInlet(t, ["dev", "--port", "0", "--data-dir", dataDir]);
  assert.match(inlet.url, /^http:\/\/127\.0\.0\.1:/);
  assert.match(inlet.stdout(), /this machine only \(loopback\)/);
  assert.match(inlet.stdout(), /^Retention: events 30d, .*; at most [\d.]+[gm]b on disk/m);
  const [send] = curlCommands(inlet.stdout());
  assert.ok(send);
  assert.equal((await call(send.url, send.init)).status, 200);
  assert.equal((await call(`${inlet.url}/v1/events`)).body.data.length, 1);
  await inlet.end("SIGTERM");
  const open = await startInlet(t, ["dev", "--port", "0", "--host", "0.0.0.0", "--data-dir", dataDir]);
  await open.logged(/warning: .*open to the network/);
  assert.doesNotMatch(open.stdout(), /loopback/);
});

test("SIGTERM: a request in flight is finished, new ones are refused, the exit code is 0", async (t) => {
  const inlet = await startInlet(t, ["start", ...(await here(t)), "--event-key", "mine"]);
  const { hostname, port } = new URL(inlet.url);
  const body = '{"name":"a/b","data":{}}';
  const socket = connect(Number(port), hostname);
  let answer = "";
  socket.on("data", (chunk) => (answer += chunk));
  const closed = once(socket, "close");
  const head = `POST /e/mine HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  await new Promise<void>((resolve) => socket.write(head + body.slice(0, 5), () => resolve()));
  // The head must have arrived before the signal: another request, answered after it, shows that.
  assert.equal((await call(`${inlet.url}/health`)).status, 200);

  const exited = once(inlet.child, "exit");
  inlet.child.kill("SIGTERM");
  await waitFor(async () => (await call(`${inlet.url}/health`).catch(() => null)) === null);
  socket.write(body.slice(5));
  const [code] = await exited;
  await closed;
  assert.match(answer, /^HTTP\/1\.1 200 OK[\s\S]*connection: close/i);
  assert.equal(code, 0);
});

nodeTest("SIGTERM with a delay: not ready, and requests are accepted until it is over", async (t) => {
  const flags = ["--port", "0", "--host", "127.0.0.1", "--data-dir", temporaryFolder(t), "--event-key", "mine", "--drain-delay", "10m"];
  const inlet = await startInlet(t, ["start", ...flags]);
  assert.equal((await call(`${inlet.url}/ready`)).status, 200);
  inlet.child.kill("SIGTERM");
  await waitFor(async () => (await call(`${inlet.url}/ready`)).status === 503);
  assert.equal((await call(`${inlet.url}/e/mine`, { method: "POST", body: '{"name":"a/b","data":{}}' })).status, 200);
  assert.equal((await call(`${inlet.url}/health`)).status, 200);
  inlet.child.kill("SIGTERM");
  await new Promise((resolve) => inlet.child.once("exit", resolve));
});

test("draining is bounded: a request that never ends does not keep the process", async (t) => {
  const inlet = await startInlet(t, ["start", ...(await here(t)), "--event-key", "mine", "--drain-timeout", "100ms"]);
  const { hostname, port } = new URL(inlet.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => socket.write("POST /e/mine HTTP/1.1\r\nhost: t\r\ncontent-length: 50\r\n\r\n{", () => resolve()));
  assert.equal((await call(`${inlet.url}/health`)).status, 200);
  assert.equal(await inlet.end("SIGTERM"), 0);
});

nodeTest("SIGTERM: connections on which nothing was sent keep nobody waiting", async (t) => {
  const patient = ["--first-byte-timeout", "600s", "--drain-timeout", "60s"];
  const inlet = await startInlet(t, ["start", ...(await here(t)), "--event-key", "mine", ...patient]);
  const { hostname, port } = new URL(inlet.url);
  const silent = connect(Number(port), hostname);
  silent.on("error", () => undefined).resume();
  await once(silent, "connect");
  // A request that is under way keeps the service: it still waits when it has closed the other connection.
  const body = '{"name":"a/b","data":{}}';
  const busy = connect(Number(port), hostname);
  const head = `POST /e/mine HTTP/1.1\r\nhost: t\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  await new Promise<void>((resolve) => busy.write(head + body.slice(0, 5), () => resolve()));
  assert.equal((await call(`${inlet.url}/health`)).status, 200);

  const exited = inlet.end("SIGTERM");
  let answer = "";
  busy.on("error", () => undefined).on("data", (chunk) => (answer += chunk));
  await once(silent, "close");
  busy.write(body.slice(5));
  if (!busy.closed) await once(busy, "close");
  assert.match(answer, /^HTTP\/1\.1 200 OK/, "the silent one was closed before the time was over");
  assert.equal(await exited, 0);
});

nodeTest("SIGTERM during a start: it ends at once with exit code 0, and nothing was announced", async (t) => {
  const issuer = createServer().listen(0, "127.0.0.1");
  await once(issuer, "listening");
  onEnd(t, () => {
    issuer.closeAllConnections();
    issuer.close();
  });
  // It is asked at the start, and does not answer.
  const asked = once(issuer, "request");
  const oidc = [
    ["--oidc-issuer", `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`],
    ["--oidc-client-id", "inlet", "--oidc-roles", "role"],
  ].flat();
  const inlet = spawnInlet(t, ["start", ...(await here(t)), ...oidc]);
  await asked;
  assert.equal(await inlet.end("SIGTERM"), 0, inlet.stderr());
  assert.equal(inlet.stdout(), "");
});

const full = existsSync("/dev/full") ? false : "this system has no file that is always full";

nodeTest("a service goes on when its log cannot be written, as on a full disk", { skip: full }, async (t) => {
  for (const format of ["json", "lines"]) {
    const argv = ["start", ...(await here(t)), "--event-key", "mine", "--log", format];
    const child = spawn(INLET_NODE, [INLET_BIN, ...argv], { stdio: ["ignore", "pipe", openSync("/dev/full", "w")], env: BARE_ENVIRONMENT });
    onEnd(t, () => child.kill("SIGKILL"));
    const exited = once(child, "exit");
    assert.ok(child.stdout);
    const lines = createInterface(child.stdout);
    const url = await new Promise<string>((resolve) =>
      lines.on("line", (line) => line.startsWith("listening on ") && resolve(line.slice(13))),
    );
    for (const [key, status] of [
      ["unknown", 401],
      ["mine", 200],
    ] as const) {
      assert.equal((await call(`${url}/e/${key}`, { method: "POST", body: '{"name":"a/b","data":{}}' })).status, status);
    }
    child.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
  }
});

nodeTest("a dev server goes on when nobody reads its output any more", async (t) => {
  const inlet = await startInlet(t, ["dev", ...(await here(t))]);
  inlet.child.stdout?.destroy();
  for (let n = 0; n < 3; n++) {
    assert.equal((await call(`${inlet.url}/e/dev`, { method: "POST", body: '{"name":"a/b","data":{}}' })).status, 200);
  }
  assert.equal(await inlet.end("SIGTERM"), 0);
});

test("logs hold no secret, whatever goes wrong", async (t) => {
  const secrets = { event: "secret-event-key", api: "secret-api-key", signing: `signkey-prod-${"5ec7e7".repeat(8)}` };
  const flags = ["--event-key", secrets.event, "--api-key", secrets.api, "--signing-key", secrets.signing, "--log-level", "trace"];
  const inlet = await startInlet(t, ["start", ...(await here(t)), ...flags]);
  const url = `${inlet.url}/e/${secrets.event}`;
  const authorization = { authorization: `Bearer ${secrets.api}` };
  for (const body of ["{}", "nonsense", '{"name":"a/b","data":{}}']) await call(url, { method: "POST", body });
  await call(url, { method: "PUT", body: "{}" });
  await call(`${inlet.url}/v1/events?nonsense=1`, { headers: authorization });
  await call(`${inlet.url}/v1/nowhere/${secrets.event}`, { headers: authorization });
  await call(`${inlet.url}/v1/keys`, {
    method: "POST",
    body: '{"kind":"api","name":"x"}',
    headers: { ...authorization, "content-type": "application/json" },
  });
  await inlet.end("SIGTERM");
  await inlet.logged(/"code":"body_invalid"/);
  for (const secret of [...Object.values(secrets), "ak_"]) assert.ok(!inlet.stderr().includes(secret), secret);
  for (const line of inlet.stderr().trim().split("\n")) assert.doesNotThrow(() => JSON.parse(line), line);
});

async function waitFor(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!(await condition())) assert.ok(Date.now() < deadline, "this did not come about in time");
}
