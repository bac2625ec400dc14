/** Connections that send nothing are closed, and one address cannot take them all. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { startInlet } from "./support/process.ts";
import { call, EVENT_KEY, startTestService, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";

async function connected(t: TestContext, url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onEnd(t, () => socket.destroy());
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket.resume();
}

test("a connection that sends nothing is closed; one that is used is kept", async (t) => {
  const service = await startTestService(t, { flags: ["--first-byte-timeout", "3s"] });
  const [silent, used] = [await connected(t, service.url), await connected(t, service.url)];
  const request = "GET /health HTTP/1.1\r\nhost: t\r\n\r\n";
  used.write(request);
  await once(used, "data");
  await once(silent, "close");
  used.write(request);
  assert.match(String((await once(used, "data"))[0]), /^HTTP\/1\.1 200/);
});

test("one address has so many connections and no more, the log says so, and it has them again when some close", async (t) => {
  const { flags: store } = await storeFlags(t, { dataDir: temporaryFolder(t) });
  const flags = ["--port", "0", ...store, "--event-key", EVENT_KEY, "--address-connections", "20"];
  // None of them is closed because it sends nothing.
  flags.push("--first-byte-timeout", "10m");
  const inlet = await startInlet(t, ["start", ...flags]);
  const held = [];
  for (let n = 0; n < 20; n++) held.push(await connected(t, inlet.url));
  for (let n = 0; n < 5; n++) await once(await connected(t, inlet.url), "close");
  await inlet.logged(/"address":"127\.0\.0\.1","connections":20.*--address-connections/);
  assert.equal(inlet.stderr().match(/--address-connections/g)?.length, 1, "once, not for each");
  for (const socket of held) socket.destroy();
  const deadline = Date.now() + 60_000;
  const isServed = () =>
    call(`${inlet.url}/health`).then(
      ({ status }) => status === 200,
      () => false,
    );
  while (!(await isServed())) assert.ok(Date.now() < deadline, "it is served again");
});

test("a trusted proxy brings the connections of many", async (t) => {
  const service = await startTestService(t, { flags: ["--address-connections", "3", "--trust-proxy", "127.0.0.1"] });
  const sockets = [];
  for (let n = 0; n < 10; n++) sockets.push(await connected(t, service.url));
  for (const socket of sockets) socket.write("GET /health HTTP/1.1\r\nhost: t\r\n\r\n");
  const answers = await Promise.all(sockets.map((socket) => once(socket, "data")));
  for (const [chunk] of answers) assert.match(String(chunk), /^HTTP\/1\.1 200/);
});
