/** A real nginx before a service started as the unit starts it: with the configuration of docs/how-to/self-hosting.md, and with deploy/nginx.conf. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as requestPlain } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Inlet } from "@inlet/sdk";
import { freePort } from "../../server/test/support/free-port.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startInlet } from "../../server/test/support/process.ts";
import { until } from "../../server/test/support/runs.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { type Guide, readGuide, unitOf } from "./support/guide.ts";

const HOST = "127.0.0.1";

const has = (program: string, flag: string) => spawnSync(program, [flag]).status === 0;
const missing = [...(has("nginx", "-v") ? [] : ["nginx"]), ...(has("openssl", "version") ? [] : ["openssl"])];

/** The guide's own text; only where it listens, what lies behind it and its certificate are of this machine. */
async function startGuidesNginx(t: TestContext, guide: Guide, behind: string): Promise<number> {
  const folder = temporaryFolder(t);
  const [key, certificate] = ["key.pem", "certificate.pem"].map((name) => join(folder, name)) as [string, string];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=inlet.example.com"];
  assert.equal(spawnSync("openssl", [...made, "-keyout", key, "-out", certificate]).status, 0);
  const port = await freePort();
  const server = (guide.blocks("nginx")[0] ?? "")
    .replace("listen 443 ssl", `listen ${HOST}:${port} ssl`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    .replaceAll(/proxy_pass .*;/g, `proxy_pass ${behind};`);
  await startNginx(t, folder, `events {}\nhttp {\n${server}\n}\n`);
  await untilListening(port);
  return port;
}

/** The file of the compose project, whose first node does not answer. */
async function startProjectsNginx(t: TestContext, behind: string): Promise<number> {
  const port = await freePort();
  const text = readFileSync(new URL("../../../deploy/nginx.conf", import.meta.url), "utf8")
    .replace("listen 8288", `listen ${HOST}:${port}`)
    .replace("node-1:8288", `${HOST}:${await freePort()}`)
    .replace("node-2:8288", new URL(behind).host);
  await startNginx(t, temporaryFolder(t), text);
  await untilListening(port);
  return port;
}

async function startNginx(t: TestContext, folder: string, text: string): Promise<void> {
  const file = join(folder, "nginx.conf");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(folder, name)};`);
  const process = `daemon off; pid ${join(folder, "pid")}; error_log stderr;`;
  writeFileSync(file, `${process}\n${text.replace("http {", `http { access_log off; ${temporary.join(" ")}`)}`);
  const argv = ["-p", folder, "-c", file, "-e", "stderr"];
  const checked = spawnSync("nginx", [...argv, "-t"], { encoding: "utf8" });
  assert.equal(checked.status, 0, checked.stderr);
  const child = spawn("nginx", argv, { stdio: "ignore" });
  onEnd(t, async () => {
    child.kill("SIGQUIT");
    if (child.exitCode === null) await once(child, "exit");
  });
}

async function untilListening(port: number): Promise<void> {
  for (const deadline = Date.now() + 300_000; ; ) {
    const socket = connect(port, HOST);
    const isOpen = await Promise.race([once(socket, "connect").then(() => true), once(socket, "error").then(() => false)]).catch(
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (Date.now() > deadline) throw new Error("nginx does not listen");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test("nginx passes on events, refusals, addresses, cookies and live tails", {
  skip: missing.length > 0 ? `${missing.join(" and ")} not installed here` : false,
}, async (t) => {
  const guide = readGuide("how-to/self-hosting.md");
  const { argv, variables } = unitOf(guide);
  const data = temporaryFolder(t);
  const inlet = await startInlet(
    t,
    argv.map((word) => (word === "/var/lib/inlet" ? data : word === "8288" ? "0" : word)),
    variables,
  );
  const port = await startGuidesNginx(t, guide, inlet.url);
  const open = (method: string, path: string, body = "", headers: Record<string, string> = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const authorization = `Bearer ${variables.INLET_API_KEY}`;
      const all = { host: "inlet.example.com", authorization, "content-type": "application/json", ...headers };
      const options = { host: HOST, port, method, path, headers: all, rejectUnauthorized: false, servername: "inlet.example.com" };
      request(options, resolve).on("error", reject).end(body);
    });
  const call = async (...asked: Parameters<typeof open>) => {
    const answer = await open(...asked);
    const chunks: Buffer[] = [];
    for await (const chunk of answer) chunks.push(chunk as Buffer);
    return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(Buffer.concat(chunks).toString()) };
  };

  const large = await call("POST", `/e/${variables.INLET_EVENT_KEY}`, `{"name":"a/b","data":{"text":"${"x".repeat(2_000_000)}"}}`);
  assert.deepEqual([large.status, large.body.code], [413, "body_too_large"], "the service's refusal, not nginx's page");

  const transform = "(evt) => ({ name: 'hook/came', data: evt })";
  const { data: hook } = (await call("POST", "/v1/webhooks", JSON.stringify({ name: "hook", transform }))).body;
  const claimed = { "x-forwarded-for": "203.0.113.7" };
  assert.equal((await call("POST", new URL(hook.url).pathname, "{}", claimed)).status, 200);
  const [record] = (await call("GET", `/v1/webhooks/${hook.id}/requests`)).body.data;
  assert.equal(record.ip, HOST, "what a client claims of its address does not count");

  const session = await call("POST", "/v1/session", JSON.stringify({ apiKey: variables.INLET_API_KEY }), {
    origin: "https://inlet.example.com",
  });
  assert.match(String(session.headers["set-cookie"]), /; Secure/);

  const tail = await open("GET", "/v1/events/stream");
  onEnd(t, () => void tail.destroy());
  tail.setEncoding("utf8");
  await once(tail, "data");
  assert.equal((await call("POST", `/e/${variables.INLET_EVENT_KEY}`, '{"name":"shop/live","data":{}}')).status, 200);
  let text = "";
  while (!text.includes("shop/live")) text += (await once(tail, "data"))[0];

  const project = `http://${HOST}:${await startProjectsNginx(t, inlet.url)}`;
  const bearer = { authorization: `Bearer ${variables.INLET_API_KEY}` };
  for (const at of [1, 2, 3]) {
    const sent = await fetch(`${project}/e/${variables.INLET_EVENT_KEY}`, { method: "POST", body: '{"name":"shop/one","data":{}}' });
    assert.equal(sent.status, 200, `event ${at}: a node that does not answer is passed over`);
  }
  assert.equal((await fetch(`${project}/v1/events`, { headers: bearer })).status, 200, "the network's own addresses reach REST");
  await t.test(
    "the public paths are for everyone, the rest is not",
    { skip: process.platform !== "linux" && "needs 127.0.0.2" },
    async () => {
      for (const [base, options] of [
        [project, {}],
        [`https://${HOST}:${port}`, { rejectUnauthorized: false, servername: "inlet.example.com" }],
      ] as const) {
        const statusFromOutside = (path: string) =>
          new Promise<number | undefined>((resolve, reject) => {
            const get = base.startsWith("https") ? request : requestPlain;
            const asked = get(
              { host: HOST, port: new URL(base).port, path, ...options, localAddress: "127.0.0.2", headers: bearer },
              (answer) => {
                answer.resume();
                resolve(answer.statusCode);
              },
            );
            asked.on("error", reject).end();
          });
        for (const path of [
          "/",
          "/v1/events",
          "/v1/keys",
          "/v1/session",
          "/metrics",
          "/ready",
          "/docs/",
          "/mcp",
          "/login",
          "/E/../v1/events",
        ])
          assert.equal(await statusFromOutside(path), 403, `${base}${path}`);
        // nginx chooses by the path without "..", and passes it on as it came: the service takes none of them for another.
        for (const path of ["/v1/events;/../../e/x", "/v1/events%3f/../../e/x", "/v1/events#/../../e/x", "/v1/events/../../e/x"])
          assert.ok([403, 404].includes((await statusFromOutside(path)) ?? 0), `${base}${path}`);
        assert.equal(await statusFromOutside("/health"), 200);
        for (const path of [`/e/${variables.INLET_EVENT_KEY}`, "/fn/register", "/v1/realtime/token", "/v1/checkpoint/x", "/approve/x"])
          assert.notEqual(await statusFromOutside(path), 403, `${base}${path}`);
      }
    },
  );

  const client = new Inlet({ id: "shop", isDev: false, baseUrl: project, signingKey: variables.INLET_SIGNING_KEY });
  const received: unknown[] = [];
  const subscription = await client.realtime.subscribe({ channel: "orders", topics: ["paid"] }, ({ data }) => received.push(data));
  await client.realtime.publish({ channel: "orders", topic: "paid" }, { order: 7 });
  await until("the message arrives by WebSocket", () => received[0]);
  assert.deepEqual(received, [{ order: 7 }]);
  subscription.close();
  await subscription.closed;
});
