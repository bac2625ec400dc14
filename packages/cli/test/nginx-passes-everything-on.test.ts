/** docs/how-to/self-hosting.md: a real nginx with the configuration of the guide, before a service started as the unit starts it. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { freePort } from "../../server/test/support/free-port.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { startInlet } from "../../server/test/support/process.ts";
import { temporaryFolder } from "../../server/test/support/service.ts";
import { type Guide, readGuide, unitOf } from "./support/guide.ts";

const HOST = "127.0.0.1";

const has = (program: string, flag: string) => spawnSync(program, [flag]).status === 0;
const missing = [...(has("nginx", "-v") ? [] : ["nginx"]), ...(has("openssl", "version") ? [] : ["openssl"])];

/** The guide's own text; only where it listens, what lies behind it and its certificate are of this machine. */
async function startNginx(t: TestContext, guide: Guide, behind: string): Promise<number> {
  const folder = temporaryFolder(t);
  const [key, certificate, file] = ["key.pem", "certificate.pem", "nginx.conf"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=inlet.example.com"];
  assert.equal(spawnSync("openssl", [...made, "-keyout", key, "-out", certificate]).status, 0);
  const port = await freePort();
  const server = (guide.blocks("nginx")[0] ?? "")
    .replace("listen 443 ssl", `listen ${HOST}:${port} ssl`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
    .replaceAll(/proxy_pass .*;/g, `proxy_pass ${behind};`);
  const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((name) => `${name}_temp_path ${join(folder, name)};`);
  const around = `daemon off; pid ${join(folder, "pid")}; error_log stderr; events {}`;
  writeFileSync(file, `${around}\nhttp { access_log off; ${places.join(" ")}\n${server}\n}\n`);
  const argv = ["-p", folder, "-c", file, "-e", "stderr"];
  const checked = spawnSync("nginx", [...argv, "-t"], { encoding: "utf8" });
  assert.equal(checked.status, 0, checked.stderr);
  const child = spawn("nginx", argv, { stdio: "ignore" });
  onEnd(t, async () => {
    child.kill("SIGQUIT");
    if (child.exitCode === null) await once(child, "exit");
  });
  await untilListening(port);
  return port;
}

async function untilListening(port: number): Promise<void> {
  for (const deadline = Date.now() + 60_000; ; ) {
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
  const port = await startNginx(t, guide, inlet.url);
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
});
