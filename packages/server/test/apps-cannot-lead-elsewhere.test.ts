/** Whoever names an app's address, and whatever an app redirects to, the service calls no address that is refused, and shows little of others. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { onEnd } from "./support/on-end.ts";
import { startTestService, type TestService } from "./support/service.ts";

async function listen(t: TestContext, listener: RequestListener, host = "127.0.0.1"): Promise<string> {
  const server = createServer(listener).listen(0, host);
  await once(server, "listening");
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://${host}:${(server.address() as AddressInfo).port}`;
}

async function sync(service: TestService, url: string) {
  const { status, body } = await service.rest("POST", "/apps", { body: { url } });
  return { status, code: body.code, message: String(body.error) };
}

// This is decided before a store is asked: one engine stands for both.
test("link-local and metadata addresses are refused, however they are written", async (t) => {
  const service = await startTestService(t);
  const addresses = [
    "169.254.169.254",
    "169.254.1.1",
    "0xa9fea9fe",
    "2852039166",
    "[::ffff:169.254.169.254]",
    "[fe80::1]",
    "[fd00:ec2::254]",
  ];
  for (const address of [...addresses, "100.100.100.200"]) {
    const { status, code, message } = await sync(service, `http://${address}/latest/meta-data/`);
    assert.deepEqual([status, code], [502, "app_unreachable"], address);
    assert.match(message, /link-local or metadata address/, address);
  }
});

test("a redirect is looked at like the address itself", async (t) => {
  const service = await startTestService(t, { flags: ["--app-addresses", "deny:127.0.0.2,::1"] });
  let reached = 0;
  const secret = await listen(t, (_request, response) => void response.end(`secret ${++reached}`), "127.0.0.2");
  for (const location of ["http://169.254.169.254/", "http://[fe80::1]/", secret]) {
    const app = await listen(t, (_request, response) => void response.writeHead(307, { location }).end());
    const { status, message } = await sync(service, app);
    assert.equal(status, 502);
    assert.match(message, /link-local or metadata|--app-addresses/, location);
  }
  assert.match((await sync(service, secret)).message, /--app-addresses does not allow the address 127\.0\.0\.2/);
  assert.equal(reached, 0, "nothing arrived there");
});

test("a name is looked at by what it leads to", async (t) => {
  let reached = 0;
  const url = await listen(t, (_request, response) => void response.end(`reached ${++reached}`));
  const named = url.replace("127.0.0.1", "localhost");
  for (const rules of ["deny:127.0.0.0/8,::1", "allow:10.0.0.0/8"]) {
    const service = await startTestService(t, { flags: ["--app-addresses", rules] });
    for (const address of [url, named]) assert.match((await sync(service, address)).message, /--app-addresses/, `${rules} ${address}`);
  }
  assert.equal(reached, 0);
  const open = await startTestService(t, { flags: ["--app-addresses", "allow:127.0.0.0/8,::1"] });
  await sync(open, named);
  assert.equal(reached, 1, "what is allowed is called");
});

test("no more than 300 characters of another server's response are shown", async (t) => {
  const service = await startTestService(t);
  const answers = ["x".repeat(5_000), JSON.stringify({ message: "x".repeat(5_000) }), JSON.stringify({ error: "x".repeat(5_000) })];
  for (const answer of answers) {
    const url = await listen(t, (_request, response) => void response.writeHead(500).end(answer));
    const { message } = await sync(service, url);
    const shown = message.match(/x+/)?.[0].length ?? 0;
    assert.ok(shown > 200 && shown <= 300, `${shown} characters`);
  }
});

test("what is no address is refused as such", async (t) => {
  const service = await startTestService(t);
  for (const url of [
    "http://",
    "https://",
    "http://[",
    "http://a b/",
    "ftp://a/",
    "file:///etc/passwd",
    "",
    "http://me:secret@127.0.0.1:1/",
    "http://me@127.0.0.1:1/",
  ]) {
    const { status, code } = await sync(service, url);
    assert.deepEqual([status, code], [400, "request_invalid"], url);
  }
});
