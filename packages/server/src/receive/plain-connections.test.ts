import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { EventId } from "@inlet/protocol";
import { pino } from "pino";
import { BodyBudget } from "./body-budget.ts";
import type { Answer } from "./inbound-request.ts";
import { PlainConnections, type PlainConnectionsParts } from "./plain-connections.ts";

const HEAD = "POST /e/key HTTP/1.1\r\nHost: inlet.test\r\nContent-Length: 10\r\n\r\n";
const REQUEST = `${HEAD}${"x".repeat(10)}`;
const ACCEPTED: Answer = { ids: ["01JCQ7V8Z0ABCDEFGHJKMNPQRS" as EventId] };

interface Listening {
  plain: PlainConnections;
  /** What was read from connections that were passed on. */
  passedOn: string[];
  connected(): Promise<Socket>;
}

async function listen(t: TestContext, parts: Partial<PlainConnectionsParts>): Promise<Listening> {
  const plain = new PlainConnections({
    receive: async () => ACCEPTED,
    budget: new BodyBudget(1_000_000),
    clientIp: () => "",
    log: pino({ level: "silent" }),
    isDraining: () => false,
    times: { requestMs: 60_000, keepAliveMs: 60_000 },
    ...parts,
  });
  const passedOn: string[] = [];
  const passOn = (socket: Socket) => void socket.on("data", (chunk) => passedOn.push(String(chunk)));
  const server = createServer({ allowHalfOpen: true }, (socket) => plain.take(socket, passOn)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    plain.closeAll();
    server.close();
  });
  async function connected(): Promise<Socket> {
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    sockets.push(socket.on("error", () => undefined));
    await once(socket, "connect");
    return socket;
  }
  return { plain, passedOn, connected };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function answerOn(socket: Socket): Promise<string> {
  return String((await once(socket, "data"))[0]);
}

function hasRoom(budget: BodyBudget, bytes: number): boolean {
  const share = budget.enter();
  const isTaken = share?.take(bytes) ?? false;
  share?.release();
  return isTaken;
}

test("plain requests are answered here, and with the first bytes of another a connection is passed on", async (t) => {
  const { passedOn, connected } = await listen(t, {});
  const socket = await connected();
  for (let n = 0; n < 3; n++) {
    socket.write(REQUEST);
    assert.match(await answerOn(socket), /^HTTP\/1\.1 200 OK\r\n/);
  }
  assert.deepEqual(passedOn, []);
  const other = "GET / HTTP/1.1\r\n\r\n";
  socket.write(other);
  await until(() => passedOn.length > 0);
  socket.write(REQUEST);
  await until(() => passedOn.length > 1);
  assert.deepEqual(passedOn, [other, REQUEST]);
});

test("a body that does not come in time is given up", async (t) => {
  const { connected } = await listen(t, { times: { requestMs: 50, keepAliveMs: 60_000 } });
  const socket = await connected();
  socket.write(HEAD);
  assert.match(await answerOn(socket), /^HTTP\/1\.1 408 Request Timeout\r\n/);
  await once(socket, "close");
});

test("a connection is kept for the next request for a while, and not for ever", async (t) => {
  const { connected } = await listen(t, { times: { requestMs: 50, keepAliveMs: 200 } });
  const socket = await connected();
  socket.write(REQUEST);
  assert.match(await answerOn(socket), /Keep-Alive: timeout=0\r\n/);
  await once(socket, "close");
});

test("a stop closes connections that are idle at once, and others with their answer", async (t) => {
  let isDraining = false;
  let accept: (answer: Answer) => void = () => {};
  const receive = () => new Promise<Answer>((resolve) => (accept = resolve));
  const { plain, connected } = await listen(t, { receive, isDraining: () => isDraining });
  const [idle, serving, arriving] = [await connected(), await connected(), await connected()];
  arriving.write(REQUEST.slice(0, -1));
  serving.write(REQUEST);
  const none = accept;
  await until(() => accept !== none);
  isDraining = true;
  plain.closeIdle();
  await once(idle.resume(), "close");
  accept(ACCEPTED);
  assert.match(await answerOn(serving), /\r\nConnection: close\r\n/);
  await once(serving, "close");
  arriving.write("x");
  const first = accept;
  await until(() => accept !== first);
  accept(ACCEPTED);
  assert.match(await answerOn(arriving), /\r\nConnection: close\r\n/);
});

test("a stop cuts no answer short", async (t) => {
  let isDraining = false;
  const ids = Array.from({ length: 400_000 }, () => "01JCQ7V8Z0ABCDEFGHJKMNPQRS" as EventId);
  const receive = async () => {
    isDraining = true;
    return { ids };
  };
  const { plain, connected } = await listen(t, { receive, isDraining: () => isDraining });
  const socket = (await connected()).pause();
  socket.write(REQUEST);
  await until(() => isDraining);
  await new Promise((resolve) => setTimeout(resolve, 50));
  plain.closeIdle();
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length)).resume();
  await once(socket, "close");
  assert.ok(bytes > ids.length * 29, `only ${bytes} bytes arrived`);
});

test("bodies that have not arrived yet count, until they have or their connection is gone", async (t) => {
  const budget = new BodyBudget(2_500);
  const { passedOn, connected } = await listen(t, { budget });
  const [first, second, third] = [await connected(), await connected(), await connected()];
  for (const socket of [first, second]) socket.write(HEAD);
  await until(() => !hasRoom(budget, 0));
  third.write(REQUEST);
  assert.match(await answerOn(third), /^HTTP\/1\.1 503 [\s\S]*"overloaded"/, "a whole request is refused");
  first.destroy();
  second.write("x".repeat(10));
  assert.match(await answerOn(second), /^HTTP\/1\.1 200 /);
  await until(() => hasRoom(budget, 1_400));
  assert.deepEqual(passedOn, []);
});

test("a client that reads no answers is not listened to until it does", async (t) => {
  const ids = Array.from({ length: 2_000 }, () => "01JCQ7V8Z0ABCDEFGHJKMNPQRS" as EventId);
  let received = 0;
  const receive = async () => {
    received++;
    return { ids };
  };
  const { connected } = await listen(t, { receive });
  const socket = (await connected()).pause();
  let sent = 0;
  // Each is sent when the one before was received; that it stops is known when that takes long.
  for (let waited = 0; waited < 50; waited++) {
    if (received === sent) {
      socket.write(REQUEST);
      sent++;
      waited = 0;
    }
    assert.ok(sent < 2_000, "it goes on and on");
    await new Promise((resolve) => setTimeout(resolve, received === sent - 1 && sent > 1 ? 10 : 1));
  }
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length)).resume();
  await until(() => received === sent && bytes > sent * ids.length * 28);
});
