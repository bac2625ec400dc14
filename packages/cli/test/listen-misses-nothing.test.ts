/** `inlet listen`: every event and webhook request arrives on this machine once and as it was sent, whatever happens in between. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test as testOnce } from "node:test";
import { gzipSync } from "node:zlib";
import { test } from "../../server/test/support/both-stores.ts";
import { onEnd } from "../../server/test/support/on-end.ts";
import { listenForBytes, postBytes } from "../../server/test/support/raw-http.ts";
import { until } from "../../server/test/support/runs.ts";
import { unsteadyProxy } from "./support/unsteady-proxy.ts";
import { EVENT_KEY, startDev, startServer, workingFolder } from "./support/working-folder.ts";

const EXACT = '{"n":12345678901234567890.10,\r\n "n":1.0, "text":"\\u0041"}';

interface DevEvent {
  id: string;
  name: string;
  data: object;
  dedupId?: string;
  duplicates: number;
}

async function startTarget(t: TestContext) {
  const url = await startDev(t);
  const events = async () => {
    const response = await fetch(`${url}/v1/events?limit=100`);
    const text = await response.text();
    return { text, items: (JSON.parse(text) as { data: DevEvent[] }).data.toReversed() };
  };
  return { url, events };
}

async function setUp(t: TestContext) {
  const server = await startServer(t);
  const send = async (body: string) => {
    const response = await fetch(`${server.url}/e/${EVENT_KEY}`, { method: "POST", body });
    return ((await response.json()) as { ids: string[] }).ids;
  };
  return { ...server, send, place: workingFolder(t, server.variables) };
}

/** An app that keeps what it is sent. */
async function startApp(t: TestContext) {
  const seen: { url: string; headers: string[]; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    seen.push({ url: request.url ?? "", headers: request.rawHeaders, body: Buffer.concat(chunks) });
    response.end("ok");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onEnd(t, () => {
    server.closeAllConnections();
    server.close();
  });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("copies are the events they were made from: id, payload text, other fields", async (t) => {
  const { place, send } = await setUp(t);
  const dev = await startTarget(t);
  const listener = place.start("listen", "--to", dev.url, "--events", "shop/*");
  await listener.printed(/Connected\./);
  const [id] = await send(`[{"name":"shop/order","id":"o-1","ts":5,"data":${EXACT},"user":{"x":1e400}},{"name":"blog/post","data":{}}]`);
  await listener.printed(/shop\/order {2}200/);
  const copies = await dev.events();
  assert.deepEqual(
    copies.items.map((event) => [event.id, event.name, event.dedupId]),
    [[id, "shop/order", "o-1"]],
  );
  assert.ok(copies.text.includes(`"data":${EXACT}`), copies.text);
  assert.ok(copies.text.includes('"user":{"x":1e400}') && copies.text.includes('"ts":5,'));
  assert.equal(await listener.end(), 0);
});

test("what is sent while it is away, cut off, or the target is down arrives all the same, and once", async (t) => {
  const { place, send, url, variables } = await setUp(t);
  const dev = await startTarget(t);
  const source = await unsteadyProxy(t, url);
  const target = await unsteadyProxy(t, dev.url);
  const argv = ["listen", "--to", target.url, "--url", source.url];
  const event = (n: number) => JSON.stringify({ name: "shop/order", data: { n } });
  const first = place.start(...argv);
  await first.printed(/Connected\./);
  await first.end("SIGKILL");
  const ids = await send(`[${event(1)},${event(2)}]`);

  target.next = ["none", "answer lost", "never arrives", "turned away"];
  const second = place.start(...argv);
  await second.printed(/from the saved cursor/);
  await until("both events", async () => ((await dev.events()).items.length === 2 ? true : undefined));
  await second.printed(new RegExp(`${ids[1]} .*200`));
  source.next = ["bad gateway", "turned away", "never arrives"];
  source.cut();
  ids.push(...(await send(`[${event(3)},${event(4)}]`)));
  await second.printed(new RegExp(`${ids[3]} .*200`));
  assert.match(second.stderr(), /Waiting for http/);
  await second.end("SIGTERM");

  ids.push(...(await send(event(5))));
  const third = workingFolder(t, variables);
  third.write(".inlet/listen.json", place.read(".inlet/listen.json"));
  const moved = third.start(...argv, "--json");
  await moved.printed(new RegExp(`"id":"${ids[4]}","status":200`));
  assert.deepEqual(
    (await dev.events()).items.map(({ id }) => id),
    ids,
    "each once, in order",
  );
  await moved.end();
});

test("a payload with line breaks, which is read apart, is read again after failures; an event that is gone meanwhile is passed over", async (t) => {
  const { place, send, url } = await setUp(t);
  const dev = await startTarget(t);
  const source = await unsteadyProxy(t, url);
  const listener = place.start("listen", "--to", dev.url, "--url", source.url);
  await listener.printed(/Connected\./);
  source.next = ["turned away", "bad gateway", "answer lost", "never arrives"];
  const [kept] = await send(`{"name":"shop/order","data":${EXACT}}`);
  await listener.printed(/shop\/order {2}200/);
  assert.match(listener.stderr(), /^Full\. \(overloaded\) Retrying\.$/m);
  assert.ok((await dev.events()).text.includes(`"data":${EXACT}`));

  source.next = ["event gone"];
  const [gone, next] = await send('[{"name":"shop/gone","data":{\n}},{"name":"shop/next","data":{\n}}]');
  await listener.printed(new RegExp(`${gone} {2}shop/gone {2}not forwarded: it was removed`));
  await listener.printed(/shop\/next {2}200/);
  source.next = Array.from({ length: 1_000 }, () => "turned away");
  await send(`{"name":"shop/late","data":${EXACT}}`);
  await listener.printed(/(Retrying\.[\s\S]*){2}/);
  assert.equal(await listener.end(), 0, "an interruption ends the attempts");
  assert.deepEqual(
    (await dev.events()).items.map((event) => event.id),
    [kept, next],
  );
});

test("--since begins in the past; sending a copy again makes no second event", async (t) => {
  const { place, send } = await setUp(t);
  const dev = await startTarget(t);
  const [id] = await send('{"name":"shop/order","data":{}}');
  for (let round = 0; round < 2; round++) {
    const listener = place.start("listen", "--to", dev.url, "--since", "1h");
    await listener.printed(/, since 1h\./);
    await listener.printed(/shop\/order {2}200/);
    await listener.end();
  }
  assert.deepEqual(
    (await dev.events()).items.map((event) => event.id),
    [id],
  );
});

test("events reach an app's own URL as they were sent; what a target refuses is told and passed over", async (t) => {
  const { place, send } = await setUp(t);
  const app = await startApp(t);
  const small = await startDev(t, ["--body-limit", "100b"]);
  const [toApp, toSmall] = [place.start("listen", "--to", `${app.url}/events`), place.start("listen", "--to", small)];
  await Promise.all([toApp.printed(/Connected\./), toSmall.printed(/Connected\./)]);
  await send(`[{"name":"shop/big","data":{"text":"${"x".repeat(200)}"}},{"name":"shop/small","ts":5,"data":{"n":1.0}}]`);
  await toApp.printed(/shop\/small {2}200/);
  assert.deepEqual(
    app.seen.map(({ url }) => url),
    ["/events", "/events"],
  );
  assert.equal(app.seen[1]?.body.toString(), '{"name":"shop/small","data":{"n":1.0},"ts":5}');
  await toSmall.printed(/shop\/big {2}413 .*body_too_large/);
  await toSmall.printed(/shop\/small {2}200/);
  assert.deepEqual([await toApp.end(), await toSmall.end()], [0, 0]);
});

test("raw webhook requests reach an app byte for byte, across a cut, and only those that were let in", async (t) => {
  const { place, rest, url } = await setUp(t);
  const app = await listenForBytes(t);
  const source = await unsteadyProxy(t, url);
  const transform = "function transform(evt, h, q, raw) { if (raw === 'bad') throw new Error('no'); return { name: 'x/y', data: {} } }";
  const hook = await rest("POST", "/webhooks", { name: "Stripe", transform });
  const listener = place.start("listen", "--webhook", "stripe", "--to", `${app.url}/hook?from=listen`, "--url", source.url);
  await listener.printed(/Connected\./);
  const query = "?b=%c3%a9+x&a=1&&a=%20'{}\"&flag";
  const sent = [
    {
      headers: ["content-TYPE: application/json", "X-Many: 1", "Stripe-Signature: t=1,v1=ab", "x-many: caf\u00e9"],
      body: Buffer.from(EXACT),
    },
    { headers: ["Content-Type: application/octet-stream"], body: Buffer.from([0x7b, 0xff, 0x00, 0xfe, 0x7d]) },
    { headers: ["Content-Encoding: gzip", "Content-Type: application/json"], body: gzipSync(EXACT) },
    { headers: ["Content-Type: text/plain"], body: Buffer.from("bad") },
  ];
  for (const [index, request] of sent.entries()) {
    await postBytes(hook.url, { query, ...request });
    if (index === 0) await until("the first request", () => (app.received.length === 1 ? true : undefined));
    if (index === 0) source.cut();
  }
  await rest("PUT", `/webhooks/${hook.id}`, { ips: { mode: "allow", list: ["192.0.2.1"] } });
  await postBytes(hook.url, { query, headers: [], body: Buffer.from("denied") });
  await listener.printed(/not forwarded: ip_denied/);
  await listener.end();
  assert.deepEqual(
    app.received,
    sent.map(({ headers, body }) => ({
      lines: [
        `POST /hook?from=listen&${query.slice(1)} HTTP/1.1`,
        `Host: ${new URL(app.url).host}`,
        ...headers,
        `Content-Length: ${body.length}`,
        "Connection: keep-alive",
      ],
      body,
    })),
    "the one the transform failed on too: it is of all the one to debug",
  );
});

test("a raw request that arrives twice at a dev server, because a response was lost or it was killed, is one event", async (t) => {
  const { place, rest } = await setUp(t);
  const dev = await startTarget(t);
  const target = await unsteadyProxy(t, dev.url);
  const webhook = { name: "Pay", transform: "(evt) => ({ name: 'pay/came', data: evt })" };
  const hook = await rest("POST", "/webhooks", webhook);
  const headers = { "content-type": "application/json" };
  const made = await fetch(`${target.url}/v1/webhooks`, { method: "POST", body: JSON.stringify(webhook), headers });
  const { data } = (await made.json()) as { data: { id: string } };
  const post = (n: number) => fetch(hook.url, { method: "POST", body: JSON.stringify({ n }), headers });
  const first = place.start("listen", "--webhook", "Pay", "--to", target.url);
  await first.printed(/Connected\./);
  target.next = ["answer lost", "turned away"];
  await post(1);
  await first.printed(/Pay {2}200/);
  // What was noted is set back, as if it had been killed between the response and the note.
  await first.end("SIGKILL");
  const again = place.start("listen", "--webhook", "Pay", "--to", target.url, "--since", "1h");
  await again.printed(/Pay {2}200/);
  await post(2);
  await again.printed(/(Pay {2}200[\s\S]*){2}/);
  await again.end();
  const { items } = await dev.events();
  assert.deepEqual(
    items.map(({ name, data, duplicates }) => [name, data, duplicates]),
    [
      ["pay/came", { n: 1 }, 2],
      ["pay/came", { n: 2 }, 0],
    ],
  );
  const records = (await (await fetch(`${dev.url}/v1/webhooks/${data.id}/requests`)).json()) as { data: unknown[] };
  assert.equal(records.data.length, 4, "each arrival is on record all the same");
});

test("raw webhook requests reach a dev server's webhook of the same name, with its own transform", async (t) => {
  const { place, rest } = await setUp(t);
  const dev = await startTarget(t);
  const hook = await rest("POST", "/webhooks", { name: "Pay", transform: "() => ({ name: 'old/name', data: {} })" });
  const missing = await place.inlet(["listen", "--webhooks", "--to", dev.url]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /has no webhook named "Pay"[\s\S]*inlet webhooks apply --url/);
  const body = JSON.stringify({ name: "Pay", transform: "(evt) => ({ name: 'new/name', data: evt })" });
  await fetch(`${dev.url}/v1/webhooks`, { method: "POST", body, headers: { "content-type": "application/json" } });
  const listener = place.start("listen", "--webhooks", "--to", dev.url);
  await listener.printed(/Connected\./);
  await fetch(hook.url, { method: "POST", body: '{"n":1}', headers: { "content-type": "application/json" } });
  await listener.printed(/Pay {2}200/);
  await listener.end();
  assert.deepEqual(
    (await dev.events()).items.map(({ name }) => name),
    ["new/name"],
  );
});

testOnce("what cannot be listened to is said at once", async (t) => {
  const { place, url } = await setUp(t);
  const none = await place.inlet(["listen", "--webhooks"]);
  assert.deepEqual([none.code, /has no webhooks/.test(none.stderr)], [1, true]);
  const unknown = await place.inlet(["listen", "--webhook", "Stripe"]);
  assert.match(unknown.stderr, /has no webhook "Stripe"\. It has no webhooks\./);
  assert.equal((await place.inlet(["listen", "--api-key", "ak_wrong"])).code, 4);
  assert.equal((await place.inlet(["listen", "--to", "localhost"])).code, 2);
  const circle = await place.inlet(["listen", "--url", "http://127.0.0.1:8299", "--to", "http://localhost:8299"]);
  assert.deepEqual([circle.code, /are the same service/.test(circle.stderr)], [2, true]);
  const named = await place.inlet(["listen", "--to", url, "--env", "production"]);
  assert.deepEqual([named.code, /are the same service/.test(named.stderr)], [2, true], "the default environment, by its name");
  const both = await place.inlet(["listen", "--webhooks", "--webhook", "Stripe"]);
  assert.deepEqual([both.code, /either --webhooks, for all webhooks, or --webhook, for those/.test(both.stderr)], [2, true], both.stderr);
  for (const flags of [["--webhooks"], ["--webhook", "Stripe"]]) {
    const mixed = await place.inlet(["listen", ...flags, "--events", "a"]);
    assert.deepEqual([mixed.code, mixed.stderr.includes(`either --events, for events, or ${flags[0]},`)], [2, true], mixed.stderr);
  }
  place.write("state.json", "nonsense");
  assert.match((await place.inlet(["listen", "--state", "state.json"])).stderr, /is not a state file/);
});
