/** The record of a webhook request holds its query, headers and body as they came, so that a copy or a replay is the request itself. */

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { EVENT_ID_SEED_HEADER } from "@inlet/protocol";
import { test } from "./support/both-stores.ts";
import { postBytes } from "./support/raw-http.ts";
import { startTestService } from "./support/service.ts";
import { makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const HEADERS = ["content-TYPE: application/json", "x-many: 1", "X-Other: caf\u00e9", "X-Many: 2", "AUTHORIZATION: Bearer hush"];
const QUERY = "?b=%c3%a9+x&a=1&&a=%20'{}\"&=&flag";

test("query, order and case of headers, repetitions and compressed bytes are kept; masked headers are masked there too", async (t) => {
  const service = await startTestService(t, { flags: ["--mask-headers", "authorization"] });
  const webhook = await makeWebhook(service);
  const body = gzipSync('{"n": 1.0}');
  assert.equal(await postBytes(webhook.url, { query: QUERY, headers: [...HEADERS, "Content-Encoding: gzip"], body }), 200);
  const [record] = await requestsOf(service, webhook);
  assert.equal(record.rawQuery, QUERY.slice(1));
  const lines: string[] = [];
  for (let at = 0; at < record.rawHeaders.length; at += 2) lines.push(`${record.rawHeaders[at]}: ${record.rawHeaders[at + 1]}`);
  assert.deepEqual(lines.slice(1, 7), [...HEADERS.slice(0, 4), "AUTHORIZATION: ***", "Content-Encoding: gzip"]);
  assert.deepEqual([record.headers["X-Many"], record.headers.Authorization], ["1, 2", "***"]);
  assert.deepEqual(record.query, { b: ["é x"], a: ["1", " '{}\""], "": [""], flag: [""] });
  assert.equal(record.body, '{"n": 1.0}');
  assert.deepEqual(Buffer.from(record.bodyBase64, "base64"), body);
  assert.ok(!JSON.stringify(record).includes("hush"));
});

test("a body that is its text is recorded without its bytes, whatever encoding is declared", async (t) => {
  const service = await startTestService(t);
  const webhook = await makeWebhook(service);
  const body = Buffer.from('{"n": "ł"}');
  for (const [encoding, status] of [
    ["identity", 200],
    ["gzip", 400],
  ] as const) {
    const headers = [...HEADERS, `Content-Encoding: ${encoding}`];
    assert.equal(await postBytes(webhook.url, { query: "", headers, body }), status, encoding);
    const [record] = await requestsOf(service, webhook);
    assert.deepEqual([record.body, record.bodyBase64 ?? null], [body.toString(), null], encoding);
  }
});

test("a replay and a draft see what the transform saw the first time", async (t) => {
  const service = await startTestService(t);
  const webhook = await makeWebhook(service);
  const seen = async (id: string) => (await service.rest("GET", `/events/${id}`)).body.data.data;
  const body = gzipSync('{"n": 1.0}');
  assert.equal(await postBytes(webhook.url, { query: QUERY, headers: [...HEADERS, "Content-Encoding: gzip"], body }), 200);
  const [record] = await requestsOf(service, webhook);
  const { "Content-Length": _, ...headers } = (await seen(record.eventId)).headers;
  const replayed = await service.rest("POST", `/webhooks/${webhook.id}/requests/${record.id}/replay`);
  assert.equal(replayed.status, 201, replayed.text);
  assert.deepEqual(await seen(replayed.body.data.ids[0]), { ...(await seen(record.eventId)), headers });
  const [again] = await requestsOf(service, webhook);
  assert.deepEqual([again.rawQuery, again.bodyBase64], [record.rawQuery, record.bodyBase64]);
  const draft = { transform: "(evt, headers, query, raw) => ({ name: 'a/b', data: { raw, query } })", webhookId: webhook.id };
  const tried = await service.rest("POST", "/transforms/test", { body: { ...draft, requestId: record.id } });
  assert.deepEqual(tried.body.data.event.data, { raw: '{"n": 1.0}', query: record.query });
});

test("a request that fixes its event's id by a seed makes one event however often it arrives; replayed, it makes a new one", async (t) => {
  const service = await startTestService(t);
  const webhook = await makeWebhook(service);
  const headers = { [EVENT_ID_SEED_HEADER]: `1700000000000,${Buffer.alloc(10, 7).toString("base64")}` };
  const [first, second] = [await post(webhook.url, { n: 1 }, headers), await post(webhook.url, { n: 1 }, headers)];
  assert.deepEqual(first.body.ids, second.body.ids);
  const { data } = (await service.rest("GET", "/events")).body;
  assert.deepEqual([data.length, data[0].duplicates], [1, 1]);
  const records = await requestsOf(service, webhook);
  const replayed = await service.rest("POST", `/webhooks/${webhook.id}/requests/${records[0].id}/replay`);
  assert.notDeepEqual(replayed.body.data.ids, first.body.ids);
});
