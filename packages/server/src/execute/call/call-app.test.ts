import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type AddressRules, AppAddresses } from "./app-addresses.ts";
import { AppCaller } from "./call-app.ts";
import { NoResponse } from "./no-response.ts";

const CALLS_GROWN_OLD = fileURLToPath(new URL("../../../test/support/calls-grown-old.ts", import.meta.url));
const LARGE = 8 * 1024 * 1024;

async function start(
  t: TestContext,
  listener: RequestListener,
  { timeoutMs = 10_000, connectionsMax = 100, rules = null as AddressRules | null } = {},
) {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const caller = new AppCaller({ timeoutMs, connectionsMax, addresses: new AppAddresses(rules) });
  t.after(async () => {
    await caller.stop();
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    caller,
    call: (path = "/", body = "{}") => caller.call({ method: "POST", url: url + path, headers: { "x-a": "1" }, body }),
  };
}

test("a response as it was given: status, headers, letters cut in two, in one piece or many", async (t) => {
  const text = "é\u{1f9c0}".repeat(1_000);
  const bytes = Buffer.from(text);
  const { call } = await start(t, async (request, response) => {
    response.writeHead(206, { "x-told": ["a", "b"], ...(request.url === "/whole" && { "content-length": bytes.length }) });
    response.write(bytes.subarray(0, 1));
    await new Promise((resolve) => setTimeout(resolve, 20));
    response.end(bytes.subarray(1));
  });
  for (const path of ["/whole", "/pieces"]) {
    const { status, headers, body } = await call(path);
    assert.deepEqual([status, headers["x-told"], body], [206, ["a", "b"], text]);
  }
});

test("an empty response, one that says it is UTF-8, and one that others came before", async (t) => {
  const { call } = await start(t, (request, response) => {
    if (request.url === "/hinted") response.writeEarlyHints({ link: "</style.css>; rel=preload" });
    response.end(request.url === "/empty" ? "" : "\ufeff[1]");
  });
  assert.equal((await call("/empty")).body, "");
  assert.equal((await call("/marked")).body, "[1]");
  assert.deepEqual([(await call("/hinted")).status, (await call("/hinted")).body], [200, "[1]"]);
});

const ANSWERS: Readonly<Record<string, [string, { status: number; body: string }]>> = {
  "in chunks": [
    "HTTP/1.1 206 Partial\r\ntransfer-encoding: chunked\r\n\r\n3\r\n[1,\r\n2\r\n2]\r\n0\r\n\r\n",
    { status: 206, body: "[1,2]" },
  ],
  "without a length": ["HTTP/1.1 500 Oops\r\n\r\nit ends with the connection", { status: 500, body: "it ends with the connection" }],
  "without a body": ["HTTP/1.1 204 No Content\r\n\r\n", { status: 204, body: "" }],
  "of an older version": ["HTTP/1.0 200 OK\r\ncontent-length: 3\r\n\r\nold", { status: 200, body: "old" }],
};

test("a response of any kind is read whole and asked for once", async () => {
  for (const [kind, [text, expected]] of Object.entries(ANSWERS)) {
    let requests = 0;
    const server = createTcpServer((socket) => {
      socket
        .on("error", () => undefined)
        .once("data", () => {
          requests++;
          socket.end(text);
        });
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const caller = new AppCaller({ timeoutMs: 10_000, connectionsMax: 1, addresses: new AppAddresses(null) });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const { status, body } = await caller.call({ method: "POST", url, headers: {}, body: "{}" });
    assert.deepEqual({ status, body }, expected, kind);
    assert.equal(requests, 1, kind);
    await caller.stop();
    server.close();
  }
});

test("there are no more connections than allowed, and other calls wait", async (t) => {
  let waiting: ServerResponse[] = [];
  let most = 0;
  const listener: RequestListener = (_request, response) => {
    most = Math.max(most, waiting.push(response));
    if (waiting.length < 3) return;
    for (const each of waiting) each.end("ok");
    waiting = [];
  };
  const { call } = await start(t, listener, { connectionsMax: 3 });
  await Promise.all(Array.from({ length: 39 }, () => call()));
  assert.equal(most, 3);
});

test("a stop ends calls under way and those that wait", async (t) => {
  const { promise: bothArrived, resolve } = Promise.withResolvers<void>();
  let requests = 0;
  const { call, caller } = await start(t, () => void (++requests === 2 && resolve()), { connectionsMax: 2 });
  const calls = [call(), call(), call()].map((made) => made.catch((error) => error));
  await bothArrived;
  await caller.stop();
  for (const error of await Promise.all(calls)) assert.ok(error instanceof NoResponse);
  await assert.rejects(call(), NoResponse, "nor does one begin");
});

test("redirects that keep method and body are followed, a few of them", async (t) => {
  const seen: string[] = [];
  const { call } = await start(t, async (request, response) => {
    const [body] = (await request.toArray()) as Buffer[];
    seen.push(`${request.method} ${request.url} ${body} ${request.headers["x-a"]}`);
    const left = Number(request.url?.slice(1));
    if (left > 0) response.writeHead(left % 2 ? 307 : 308, { location: `/${left - 1}` }).end("moved");
    else response.end("here");
  });
  assert.equal((await call("/3", '{"n":1}')).body, "here");
  assert.deepEqual(
    seen,
    ["POST /3", "POST /2", "POST /1", "POST /0"].map((line) => `${line} {"n":1} 1`),
  );
  assert.equal((await call("/4")).status, 307, "one too many");
});

test("a response that is too large, late, cut off or not there is no response, and says why", async (t) => {
  const listener: RequestListener = (request, response) => {
    if (request.url === "/large") return void response.end("x".repeat(LARGE + 1));
    if (request.url === "/cut") return void response.writeHead(200, { "content-length": 10 }).write("half", () => response.destroy());
    if (request.url === "/never") return;
    if (request.url === "/drips-with-length") response.writeHead(200, { "content-length": 1_000_000 });
    const drip = setInterval(() => response.write("."), 20);
    response.on("close", () => clearInterval(drip));
  };
  const [hasty, patient] = [await start(t, listener, { timeoutMs: 300 }), await start(t, listener, { timeoutMs: 60_000 })];
  const reason = async ({ call }: typeof hasty, path: string) => {
    await assert.rejects(call(path), NoResponse);
    return call(path).catch(({ message }) => message);
  };
  assert.match(await reason(patient, "/large"), /larger than 8 MiB/);
  assert.match(await reason(hasty, "/drips"), /did not answer within 0.3 s/);
  assert.match(await reason(hasty, "/drips-with-length"), /did not answer within 0.3 s/);
  assert.match(await reason(hasty, "/never"), /did not answer within 0.3 s/);
  assert.match(await reason(patient, "/cut"), /cannot be reached/);
  const gone = new AppCaller({ timeoutMs: 60_000, connectionsMax: 1, addresses: new AppAddresses(null) });
  t.after(() => gone.stop());
  await assert.rejects(
    gone.call({ method: "POST", url: hasty.url.replace(/\d+$/, "1"), headers: {}, body: "" }),
    /nothing listens at its address/,
  );
  // No resolver is asked for a label of that length.
  const unknown = "a".repeat(64);
  await assert.rejects(
    gone.fetch({ peer: "server", method: "GET", url: `http://${unknown}/`, headers: {}, body: null }),
    new RegExp(`^NoResponse: The server cannot be reached: the host name ${unknown} cannot be resolved\\.$`),
  );
});

test("what was answered is garbage at once, for V8's quick collections too", async (t) => {
  const { url } = await start(t, (_request, response) => setTimeout(() => response.end("x".repeat(2_000)), 5));
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", CALLS_GROWN_OLD, url]);
  // Less than half of it is used. The streams of undici keep twice as much.
  assert.ok(Number(stdout) < 4_000, `${stdout} bytes of a call grew old`);
});

test("a call that is given up ends at once, also one that waits for a connection", async (t) => {
  const arrived = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  let requests = 0;
  const listener: RequestListener = (request) => {
    requests++;
    request.socket.once("close", () => closed.resolve());
    arrived.resolve();
  };
  const { url, caller } = await start(t, listener, { connectionsMax: 1 });
  const given = [new AbortController(), new AbortController()];
  const calls = given.map(({ signal }) => caller.call({ method: "POST", url, headers: {}, body: "{}", signal }));
  const outcomes = Promise.all(calls.map((call) => assert.rejects(call, NoResponse)));
  await arrived.promise;
  for (const controller of given.reverse()) controller.abort();
  await outcomes;
  await closed.promise;
  assert.equal(requests, 1, "the second never reached the app");
});

test("a call that may not be sent any more once its connection is free never reaches the app", async (t) => {
  const arrived = Promise.withResolvers<ServerResponse>();
  let requests = 0;
  const { url, caller } = await start(
    t,
    (_request, response) => {
      requests++;
      arrived.resolve(response);
    },
    { connectionsMax: 1 },
  );
  let isHeld = true;
  const first = caller.call({ method: "POST", url, headers: {}, body: "{}" });
  const response = await arrived.promise;
  const second = caller.call({ method: "POST", url, headers: {}, body: "{}", maySend: () => isHeld });
  isHeld = false;
  response.end("[]");
  assert.equal((await first).body, "[]");
  await assert.rejects(second, NoResponse);
  assert.equal(requests, 1);
});
