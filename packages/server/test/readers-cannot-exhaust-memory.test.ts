/** However much is stored and however little is read of it, lists and live tails hold little in memory, and clients that do not read are cut. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { startInlet } from "./support/process.ts";
import { API_KEY, call, EVENT_KEY, startTestService, type TestService, temporaryFolder } from "./support/service.ts";
import { storeFlags } from "./support/store-flags.ts";

const EVENT_BYTES = 400_000;
const MIB = 1024 * 1024;
setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

async function storeLargeEvents(service: TestService, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { status } = await service.send({ name: "large/event", data: { n, text: "x".repeat(EVENT_BYTES) } });
    assert.equal(status, 200);
  }
}

/** Asks for a path and reads nothing of the response. */
async function askWithoutReading(t: TestContext, service: { url: string }, path: string, headers = ""): Promise<Socket> {
  const { hostname, port } = new URL(service.url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on("error", () => undefined).pause();
  onEnd(t, () => socket.destroy());
  await once(socket, "connect");
  socket.write(`GET ${path} HTTP/1.1\r\nhost: t\r\nauthorization: Bearer ${API_KEY}\r\n${headers}\r\n`);
  return socket;
}

async function until(condition: () => boolean | Promise<boolean>, what: string, everyMs = 20): Promise<void> {
  const deadline = Date.now() + 300_000;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, what);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

test("a page of large events is short, and the cursor leads to all of them", async (t) => {
  const service = await startTestService(t);
  await storeLargeEvents(service, 30);
  const seen: number[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await service.rest("GET", `/events?limit=100${cursor && `&cursor=${cursor}`}`);
    assert.ok(page.text.length < 5 * MIB, `a page of ${page.text.length} bytes`);
    seen.push(...page.body.data.map(({ data }: { data: { n: number } }) => data.n));
    cursor = page.body.page.next;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 30 }, (_, n) => 29 - n),
  );
});

/** In use, without what is only left to be collected: how much of that there is depends on when the collector runs. */
function memoryHeld(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Once it changes no more. */
async function memoryAtRest(what: string): Promise<number> {
  let [last, unchanged] = [memoryHeld(), 0];
  await until(
    () => {
      const held = memoryHeld();
      unchanged = Math.abs(held - last) > 4 * MIB ? 0 : unchanged + 1;
      last = held;
      return unchanged > 5;
    },
    what,
    250,
  );
  return last;
}

test("live tails that nobody reads hold little", async (t) => {
  const service = await startTestService(t, { flags: ["--stall-timeout", "60s"] });
  await storeLargeEvents(service, 60);
  const tails: Socket[] = [];
  for (let n = 0; n < 20; n++) tails.push(await askWithoutReading(t, service, "/v1/events/stream", "last-event-id: 0\r\n"));
  await Promise.all(tails.map((socket) => once(socket.resume(), "data").then(() => socket.pause())));
  // Each tail writes until it waits for its client: from then on nothing grows.
  const open = await memoryAtRest("the tails have come to rest");
  for (const socket of tails) socket.destroy();
  const held = open - (await memoryAtRest("the tails have ended"));
  // The text of one event each, in two copies at most. All events for all tails would be 600 MiB.
  assert.ok(held < 60 * MIB, `${Math.round(held / MIB)} MiB for 20 tails`);
});

for (const [what, path, headers] of [
  ["a list", "/v1/events?limit=100", ""],
  ["a live tail", "/v1/events/stream", "last-event-id: 0\r\n"],
] as const) {
  test(`a client that does not read ${what} is cut, and the log says so; one that waits for news is not`, async (t) => {
    const keys = ["--event-key", EVENT_KEY, "--api-key", API_KEY];
    const { flags: store } = await storeFlags(t, { dataDir: temporaryFolder(t) });
    const flags = ["--port", "0", ...store, ...keys, "--stall-timeout", "500ms"];
    const inlet = await startInlet(t, ["start", ...flags]);
    for (let n = 0; n < 20; n++) {
      const body = JSON.stringify({ name: "large/event", data: { n, text: "x".repeat(EVENT_BYTES) } });
      assert.equal((await call(`${inlet.url}/e/${EVENT_KEY}`, { method: "POST", body })).status, 200);
    }
    const quiet = await askWithoutReading(t, inlet, "/v1/runs/stream");
    await once(quiet.resume(), "data");
    const stalled = await askWithoutReading(t, inlet, path, headers);
    await inlet.logged(/left its response unread/);
    let bytes = 0;
    stalled.on("data", (chunk: Buffer) => (bytes += chunk.length)).resume();
    await once(stalled, "close");
    assert.ok(bytes < 16 * EVENT_BYTES, `${bytes} bytes arrived`);
    assert.ok(!quiet.destroyed && !quiet.readableEnded, "whoever waits for news is left alone");
  });
}

test("one key cannot take all streams", async (t) => {
  const service = await startTestService(t);
  const made = await service.rest("POST", "/keys", { body: { kind: "api", name: "greedy", role: "read" } });
  const controller = new AbortController();
  t.after(() => controller.abort());
  // Responses that nothing holds are closed when their memory is collected.
  const held: Response[] = [];
  onEnd(t, () => void held.splice(0));
  const open = async (key: string) => {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${service.url}/v1/events/stream`, { headers, signal: controller.signal });
    held.push(response);
    return response;
  };
  for (let n = 0; n < 50; n++) assert.equal((await open(made.body.data.key)).status, 200, `stream ${n}`);
  const refused = await open(made.body.data.key);
  assert.equal(refused.status, 503);
  assert.match(await refused.text(), /"overloaded"/);
  assert.equal((await open(API_KEY)).status, 200, "another key has streams of its own");
});
