import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { AppCaller } from "./call-app.ts";
import { NoAnswer } from "./no-answer.ts";
import { PlainCalls } from "./plain-calls.ts";

/** Answers a request by writing to the connection; counted from 0 over all of them. */
type Write = (socket: Socket, request: string, number: number) => unknown;

/** An app whose first answer is a plain one, so that it is asked plainly from then on, and a caller that has got it. */
async function startApp(t: TestContext, write: Write, { timeoutMs = 10_000, connectionsMax = 100, first = plain("first") } = {}) {
  let requests = -1;
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.on("error", () => {}).on("close", () => open.delete(socket));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString();
      const [, length] = /content-length: (\d+)\r\n/i.exec(received) ?? [];
      const end = received.indexOf("\r\n\r\n");
      if (end < 0 || Buffer.byteLength(received.slice(end + 4)) < Number(length)) return;
      const request = received;
      received = "";
      if (requests++ < 0) socket.end(first);
      else write(socket, request, requests - 1);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const caller = new AppCaller({ timeoutMs, connectionsMax });
  t.after(async () => {
    await caller.stop();
    for (const socket of open) socket.destroy();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api?fnId=a`;
  const call = (body = "{}", headers: Record<string, string> = { "x-a": "1" }) => caller.call({ method: "POST", url, headers, body });
  assert.equal((await call()).body, "first");
  return { caller, server, open, call, counts: () => ({ requests, connections: connections - 1 }) };
}

function plain(body: string, headers = ""): string {
  return `HTTP/1.1 200 OK\r\n${headers}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

test("calls follow each other on one connection, as they were written", async (t) => {
  const seen: string[] = [];
  const { call, counts } = await startApp(t, (socket, request, number) => {
    seen.push(request);
    socket.write(plain(`{"n":${number}}`, "x-told: yes\r\n"));
  });
  for (const n of [0, 1, 2]) {
    const { status, headers, body } = await call(`{"é":"\u{1f9c0}${n}"}`);
    assert.deepEqual([status, headers["x-told"], body], [200, "yes", `{"n":${n}}`]);
  }
  assert.deepEqual(counts(), { requests: 3, connections: 1 });
  const [head, body] = seen[1]?.split("\r\n\r\n") ?? [];
  assert.match(
    head ?? "",
    /^POST \/api\?fnId=a HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nconnection: keep-alive\r\nx-a: 1\r\ncontent-length: 14$/,
  );
  assert.equal(body, '{"é":"\u{1f9c0}1"}');
});

test("an answer may be cut anywhere", async (t) => {
  const text = Buffer.from(plain('"é\u{1f9c0}"', "x-a: 1\r\n"));
  const { call, counts } = await startApp(t, async (socket, _request, number) => {
    socket.write(text.subarray(0, number + 1));
    await pause(2);
    socket.write(text.subarray(number + 1));
  });
  for (let cut = 1; cut <= text.length; cut++) assert.equal((await call()).body, '"é\u{1f9c0}"', `cut at ${cut}`);
  assert.deepEqual(counts(), { requests: text.length, connections: 1 });
});

test("a large answer comes in many pieces, and one that is too large is none", async (t) => {
  const large = "x".repeat(3_000_000);
  const { call } = await startApp(t, (socket, _request, number) =>
    socket.write(number === 0 ? plain(large) : `HTTP/1.1 200 OK\r\ncontent-length: ${8 * 1024 * 1024 + 1}\r\n\r\n`),
  );
  assert.equal((await call()).body, large);
  await assert.rejects(call(), (error) => error instanceof NoAnswer && /larger than 8 MiB/.test(error.message));
});

const STRANGE: Readonly<Record<string, [string, { status: number; body: string }]>> = {
  "in chunks": [
    "HTTP/1.1 206 Partial\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n",
    { status: 206, body: "[1,2]" },
  ],
  announced: [`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${plain("here")}`, { status: 200, body: "here" }],
  "without a length": ["HTTP/1.1 500 Oops\r\n\r\nit ends with the connection", { status: 500, body: "it ends with the connection" }],
  "without a body": ["HTTP/1.1 204 No Content\r\n\r\n", { status: 204, body: "" }],
  "of an old app": ["HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nold", { status: 200, body: "old" }],
  "with a repeated header": [plain("twice", "x-a: 1\r\nx-a: 2\r\n"), { status: 200, body: "twice" }],
};

for (const [kind, [text, { status, body }]] of Object.entries(STRANGE)) {
  test(`an answer that is not plain is read as well, and asked for once: ${kind}`, async (t) => {
    const { call, counts } = await startApp(t, async (socket, _request, number) => {
      if (number !== 1) return void socket.write(plain("usual"));
      for (const byte of Buffer.from(text)) {
        socket.write(Buffer.of(byte));
        await new Promise(setImmediate);
      }
      if (/without a length/.test(kind)) socket.end();
    });
    assert.equal((await call()).body, "usual");
    const answer = await call();
    assert.deepEqual([answer.status, answer.body], [status, body]);
    assert.equal((await call()).body, "usual", "those that follow are answered too");
    assert.equal(counts().requests, 3);
  });
}

test("an answer that is not plain may be too large, late or cut off as well", async (t) => {
  const chunk = `${(1024 * 1024).toString(16)}\r\n${"x".repeat(1024 * 1024)}\r\n`;
  for (const [fault, reason] of [
    ["large", /larger than 8 MiB/],
    ["late", /did not answer within 0.5 s/],
    ["cut", /cannot be reached/],
  ] as const) {
    const write: Write = (socket) => {
      socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n[\r\n");
      if (fault === "cut") socket.end();
      if (fault === "large") for (let n = 0; n < 9; n++) socket.write(chunk);
    };
    const { call } = await startApp(t, write, { timeoutMs: fault === "large" ? 10_000 : 500 });
    await assert.rejects(call(), (error) => error instanceof NoAnswer && reason.test(error.message), fault);
  }
});

test("a plain answer that is late, cut off, or garbage is none, and says why", async (t) => {
  const { call } = await startApp(
    t,
    (socket, _request, number) => {
      if (number === 1) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf");
      if (number === 2) socket.end();
      if (number === 3) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 5\r\n");
      if (number === 4) socket.end("SSH-2.0-OpenSSH_9.6\r\n\r\n");
      if (number > 4) socket.write(plain("fine"));
    },
    { timeoutMs: 300 },
  );
  const reason = async () => {
    const error = await call().catch((error) => error);
    assert.ok(error instanceof NoAnswer);
    return error.message;
  };
  assert.match(await reason(), /did not answer within 0.3 s/);
  assert.match(await reason(), /the connection ended before the answer did/);
  assert.match(await reason(), /the connection ended before the answer did/);
  assert.match(await reason(), /the connection ended before the answer did/);
  assert.match(await reason(), /cannot be reached/);
  assert.equal((await call()).body, "fine");
});

test("a connection is used again only while the app keeps it", async (t) => {
  const { call, open, counts } = await startApp(t, (socket, _request, number) => {
    if (number === 0) socket.write(plain("not for long", "keep-alive: timeout=1\r\n"));
    else if (number === 1) socket.end(plain("the last", "connection: close\r\n"));
    else if (number === 2) socket.write(`${plain("and")} more than was asked for`);
    else socket.write(plain("kept"));
  });
  const bodies: string[] = [];
  for (let n = 0; n < 5; n++) bodies.push((await call()).body);
  assert.deepEqual(bodies, ["not for long", "the last", "and", "kept", "kept"]);
  assert.deepEqual(counts(), { requests: 5, connections: 4 });
  // The app closes it, or says something nobody asked for: the next call takes another.
  for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.write(plain("unasked"))]) {
    const [socket] = [...open] as [Socket];
    leave(socket);
    await once(socket, "close");
    assert.equal((await call()).body, "kept");
  }
  assert.deepEqual(counts(), { requests: 7, connections: 6 });
});

test("no more connections than allowed: other calls wait for one, also when one breaks", async (t) => {
  let [under, most] = [0, 0];
  const { call, counts } = await startApp(
    t,
    async (socket, _request, number) => {
      most = Math.max(most, ++under);
      await pause(5);
      under--;
      if (number % 7 === 3) socket.destroy();
      else socket.write(plain(`${number}`));
    },
    { connectionsMax: 3 },
  );
  const answers = await Promise.allSettled(Array.from({ length: 40 }, () => call()));
  assert.equal(most, 3);
  assert.equal(counts().requests, 40);
  assert.equal(answers.filter(({ status }) => status === "rejected").length, 6);
});

test("a stop ends calls under way and those that wait, and closes all connections", async (t) => {
  const { call, caller, open, counts } = await startApp(t, () => {}, { connectionsMax: 2 });
  const calls = [call(), call(), call()].map((made) => made.catch((error) => error));
  while (counts().requests < 2) await pause(5);
  await caller.stop();
  for (const error of await Promise.all(calls)) assert.ok(error instanceof NoAnswer);
  while (open.size > 0) await pause(5);
  await assert.rejects(call(), NoAnswer, "nor does one begin");
});

test("a stop ends what is still under way at an app that did not always answer plainly", async (t) => {
  const { call, caller, counts } = await startApp(t, (socket, _request, number) => {
    if (number === 1) socket.end("HTTP/1.1 200 OK\r\n\r\nodd");
  });
  const hanging = call().catch((error) => error);
  while (counts().requests < 1) await pause(5);
  assert.equal((await call()).body, "odd");
  await caller.stop();
  assert.ok((await hanging) instanceof NoAnswer);
});

test("an app that answers before it was told all is not asked on that connection again", async (t) => {
  const server = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.pause().write(plain("too much for me")));
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const calls = new PlainCalls(
    { timeoutMs: 10_000, connectTimeoutMs: 10_000, keepAliveMs: 10_000, connectionsMax: 1 },
    { hostname: "127.0.0.1", port },
  );
  t.after(() => calls.stop());
  const body = "x".repeat(16 * 1024 * 1024);
  const answer = await calls.call(`POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  assert.equal(answer.body, "too much for me");
  assert.ok(calls.isUnused);
});

test("an app that is gone cannot be reached", async (t) => {
  const { call, server, open } = await startApp(t, (socket) => socket.write(plain("here")));
  assert.equal((await call()).body, "here");
  server.close();
  for (const socket of open) socket.destroy();
  await pause(20);
  await assert.rejects(call(), /nothing listens at its address/);
});

test("a header that is not plain is left to the HTTP client", async (t) => {
  const seen: string[] = [];
  const { call } = await startApp(t, (socket, request) => {
    seen.push(/x-name: (.*)\r\n/.exec(request)?.[1] ?? "");
    socket.write(plain("ok", "connection: close\r\n"), () => socket.end());
  });
  assert.equal((await call("{}", { "x-name": "a\tb" })).body, "ok");
  await assert.rejects(call("{}", { "x-name": "a\r\nx-b: 1" }), NoAnswer);
  assert.deepEqual(seen, ["a\tb"]);
});
