/** POST /e/:key: every rule about requests and every row of the table of errors. */

import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import type { TestContext } from "node:test";
import { gzipSync } from "node:zlib";
import { isEventId } from "@inlet/protocol";
import { test } from "./support/both-stores.ts";
import { onEnd } from "./support/on-end.ts";
import { onOneService } from "./support/one-service.ts";
import { type Answer, call, EVENT_KEY, startTestService, type TestService } from "./support/service.ts";

const EVENT = { name: "shop/order.created", data: { n: 1 } };

function assertRefused(answer: Answer, status: number, code: string): void {
  assert.deepEqual(
    { status: answer.status, code: answer.body?.code, inBody: answer.body?.status, docs: answer.body?.docs },
    { status, code, inBody: status, docs: `/docs/errors/${code}` },
  );
  assert.equal(typeof answer.body.error, "string");
  assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
}

/** The id of the event that was stored last. */
async function lastStored(service: TestService): Promise<string | undefined> {
  const { body } = await service.rest("GET", "/events?limit=1");
  return body.data[0]?.id;
}

async function countOf(service: TestService, name: string): Promise<number> {
  const { body } = await service.rest("GET", `/events?limit=100&name=${encodeURIComponent(name)}`);
  return body.data.length;
}

test(
  "requests with events",
  onOneService({
    "one event: its id is answered, and the event can be read back": async (service) => {
      const answer = await service.send(EVENT);
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), "application/json");
      assert.deepEqual(Object.keys(answer.body), ["ids", "status"]);
      assert.equal(answer.body.status, 200);
      assert.ok(isEventId(answer.body.ids[0]));
      const { body } = await service.rest("GET", `/events/${answer.body.ids[0]}`);
      assert.equal(body.data.name, EVENT.name);
      assert.deepEqual(body.data.data, EVENT.data);
      assert.equal(body.data.environment, "production");
      assert.equal(body.data.source.kind, "key");
      assert.equal(body.data.duplicates, 0);
      assert.equal(body.data.ts, Date.parse(body.data.receivedAt), "without ts, the time received counts");
    },

    "an array: one id per event, in order": async (service) => {
      const events = Array.from({ length: 50 }, (_, n) => ({ name: "a/b", data: { n } }));
      const { body } = await service.send(events);
      assert.equal(body.ids.length, 50);
      for (const n of [0, 17, 49]) {
        const read = await service.rest("GET", `/events/${body.ids[n]}`);
        assert.equal(read.body.data.data.n, n);
      }
    },

    "content types: JSON in any guise is read, other things are refused": async (service) => {
      const send = (type: string, body: string) => service.send(body, { headers: { "content-type": type } });
      const text = JSON.stringify(EVENT);
      const json = [
        "application/json",
        "application/json; charset=utf-8",
        "text/plain",
        "text/json",
        "application/cloudevents+json",
        "APPLICATION/JSON",
      ];
      for (const type of [...json, "application/x-www-form-urlencoded"]) assert.equal((await send(type, text)).status, 200, type);
      assert.equal((await send("application/x-www-form-urlencoded", ` [${text}]`)).status, 200);
      assertRefused(await send("application/x-www-form-urlencoded", "name=a&data=b"), 415, "content_type_unsupported");
      assertRefused(await send("multipart/form-data; boundary=x", text), 415, "content_type_unsupported");
      assertRefused(await send("application/octet-stream", text), 415, "content_type_unsupported");
      assertRefused(await send("application/xml", "<a/>"), 415, "content_type_unsupported");
    },

    "a compressed body is refused, and the error says what to do": async (service) => {
      const headers = { "content-type": "application/json", "content-encoding": "gzip" };
      const answer = await service.send(gzipSync(JSON.stringify(EVENT)), { headers });
      assertRefused(answer, 415, "content_type_unsupported");
      assert.match(answer.body.error, /gzip.*uncompressed/);
      assert.equal((await service.send(EVENT, { headers: { ...headers, "content-encoding": "identity" } })).status, 200);
    },

    "the whole URL as the target of a request means its path": async (service) => {
      const body = JSON.stringify(EVENT);
      const status = await new Promise((resolve) => {
        const options = { method: "POST", path: `${service.url}/e/${EVENT_KEY}?a=/e/x` };
        request(service.url, options, (response) => resolve(response.resume().statusCode)).end(body);
      });
      assert.equal(status, 200);
    },

    "no content type at all is read as JSON": async (service) => {
      const status = await new Promise((resolve) => {
        const sent = request(`${service.url}/e/${EVENT_KEY}`, { method: "POST" }, (response) => resolve(response.resume().statusCode));
        sent.end(JSON.stringify(EVENT));
      });
      assert.equal(status, 200);
    },

    "bodies that are no events": async (service) => {
      const last = await lastStored(service);
      const invalid = ['{"name":', "nonsense", '"text"', "12", "null", "true", '{"name":"a","data":{}} trailing', "{'name':'a'}"];
      for (const body of invalid) assertRefused(await service.send(body), 400, "body_invalid");
      assertRefused(await service.send(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])), 400, "body_invalid");
      for (const body of ["", "  \n", "[]", " [ ] "]) assertRefused(await service.send(body), 400, "events_missing");
      assert.equal(await lastStored(service), last);
    },

    "every rule of a field, named with index and field": async (service) => {
      const last = await lastStored(service);
      const good = { name: "a/b", data: {} };
      const faults: [object, string][] = [
        [{ data: {} }, "name"],
        [{ ...good, name: "" }, "name"],
        [{ ...good, name: 5 }, "name"],
        [{ ...good, name: null }, "name"],
        [{ ...good, name: "x".repeat(257) }, "name"],
        [{ ...good, name: "a\u0000b" }, "name"],
        [{ ...good, name: "a\nb" }, "name"],
        [{ ...good, name: "a\u007fb" }, "name"],
        [{ ...good, name: "a\u0085b" }, "name"],
        [{ ...good, name: "inlet/x" }, "name"],
        [{ ...good, name: "Inngest/function.failed" }, "name"],
        [{ ...good, name: "INLET/" }, "name"],
        [{ name: "a/b" }, "data"],
        [{ ...good, data: null }, "data"],
        [{ ...good, data: [] }, "data"],
        [{ ...good, data: "x" }, "data"],
        [{ ...good, id: "" }, "id"],
        [{ ...good, id: 7 }, "id"],
        [{ ...good, id: {} }, "id"],
        [{ ...good, id: "x".repeat(513) }, "id"],
        [{ ...good, ts: "1" }, "ts"],
        [{ ...good, ts: 1.5 }, "ts"],
        [{ ...good, ts: -1 }, "ts"],
        [{ ...good, ts: 8.64e15 + 1 }, "ts"],
        [{ ...good, ts: true }, "ts"],
      ];
      for (const [event, field] of faults) {
        const answer = await service.send([good, event]);
        assertRefused(answer, 400, "event_invalid");
        assert.deepEqual(
          answer.body.details.map((detail: { index: number; field: string }) => [detail.index, detail.field]),
          [[1, field]],
          JSON.stringify(event),
        );
      }
      assert.equal(await lastStored(service), last, "a batch with one bad event stores none");
      const single = await service.send({ name: "", data: {} });
      assert.equal(single.body.error, "name must not be empty. Nothing was stored.");
      assert.deepEqual(single.body.details, [{ index: 0, field: "name", message: "must not be empty" }]);
    },

    "absent or null data is an empty object in the requests of SDKs, and a fault in all others": async (service) => {
      const events = [{ name: "a/b" }, { name: "a/b", data: null }];
      for (const sdk of ["x-inngest-sdk", "x-service-sdk"]) {
        const { status, body } = await service.send(events, { headers: { [sdk]: "go:v0.15" } });
        assert.deepEqual([status, body.ids.length], [200, 2]);
        for (const id of body.ids) assert.deepEqual((await service.rest("GET", `/events/${id}`)).body.data.data, {});
        assertRefused(await service.send([{ name: "a/b", data: [] }], { headers: { [sdk]: "go:v0.15" } }), 400, "event_invalid");
      }
      for (const event of events) assertRefused(await service.send(event), 400, "event_invalid");
    },

    "the edges of each rule are good": async (service) => {
      const nested = JSON.parse(`{"a":${"[".repeat(511)}${"]".repeat(511)}}`);
      const events = [
        { name: "x".repeat(256), data: {} },
        { name: "😀".repeat(128), data: {} },
        { name: "inletish/x", data: {} },
        { name: "a", data: {}, id: "x".repeat(512) },
        { name: "a", data: {}, id: null, ts: null },
        { name: "a", data: {}, ts: 0 },
        { name: "a", data: {}, ts: 8.64e15 },
        { name: "a", data: nested },
      ];
      for (const event of events) assert.equal((await service.send(event)).status, 200, JSON.stringify(event).slice(0, 60));
      assertRefused(await service.send(`{"name":"a","data":{"a":${"[".repeat(512)}${"]".repeat(512)}}}`), 400, "event_invalid");
    },

    "all faults are listed, at most 100": async (service) => {
      const three = await service.send([{ name: "", data: [], id: "" }]);
      assert.equal(three.body.details.length, 3);
      const many = await service.send(Array.from({ length: 200 }, () => ({})));
      assert.equal(many.body.details.length, 100);
      const elements = await service.send([1, null, "x", []]);
      assert.deepEqual(
        elements.body.details.map((detail: { index: number }) => detail.index),
        [0, 1, 2, 3],
      );
    },

    "unknown and revoked keys": async (service) => {
      assertRefused(await service.send(EVENT, { key: "no-such-key" }), 401, "event_key_invalid");
      assertRefused(await service.send(EVENT, { key: "" }), 401, "event_key_invalid");
      assertRefused(await service.send(EVENT, { key: "%zz" }), 401, "event_key_invalid");
      assertRefused(await call(`${service.url}/e/%E0%A4%A`, { method: "POST", body: "{}" }), 401, "event_key_invalid");
    },

    "a body over the limit names the limit and the size": async (service) => {
      const answer = await service.send(bodyOf(600_000));
      assertRefused(answer, 413, "body_too_large");
      assert.match(answer.body.error, /524288/);
      assert.match(answer.body.error, /600000/);
    },

    "exactly the limit is accepted, one byte more is not": async (service) => {
      assert.equal((await service.send(bodyOf(524_288))).status, 200);
      assertRefused(await service.send(bodyOf(524_289)), 413, "body_too_large");
    },

    "a body declared too large is refused before it is sent": async (service, t) => {
      const answer = await rawResponse(t, service, "content-length: 100000000\r\n", "");
      assert.match(answer, /^HTTP\/1\.1 413 /);
      assert.match(answer, /100000000/);
    },

    "an expectation that is not known is no reason to refuse": async (service, t) => {
      const body = JSON.stringify(EVENT);
      assert.match(await rawResponse(t, service, `expect: anything\r\ncontent-length: ${body.length}\r\n`, body), /^HTTP\/1\.1 200 /);
    },

    "a body without a declared length is refused at the limit, not at its end": async (service) => {
      let sent = 0;
      const endless = new ReadableStream({
        pull(controller) {
          sent += 65_536;
          controller.enqueue(Buffer.alloc(65_536, "x"));
        },
      });
      const answer = await service.send(endless, { headers: {} }).catch(() => null);
      // The sender may learn of the refusal from the response or from the closed connection; it never gets to send much more.
      if (answer) assertRefused(answer, 413, "body_too_large");
      assert.ok(sent < 32 * 1024 * 1024, `${sent} bytes were taken`);
    },

    "a limit of its own for one environment": async (service) => {
      const big = { name: "a/b", data: { x: "y".repeat(700_000) } };
      assertRefused(await service.send(big), 413, "body_too_large");
      const changed = await service.rest("PUT", "/environments/production", { body: { bodyLimitBytes: 1_000_000 } });
      assert.equal(changed.body.data.bodyLimitBytes, 1_000_000);
      assert.equal((await service.send(big)).status, 200);
      await service.rest("PUT", "/environments/production", { body: { bodyLimitBytes: null } });
      assertRefused(await service.send(big), 413, "body_too_large");
    },

    "other methods and the preflight of browsers": async (service) => {
      for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
        const answer = await call(`${service.url}/e/${EVENT_KEY}`, { method });
        assertRefused(answer, 405, "method_not_allowed");
        assert.match(answer.headers.get("allow") ?? "", /POST/);
      }
      const preflight = await call(`${service.url}/e/${EVENT_KEY}`, {
        method: "OPTIONS",
        headers: {
          origin: "https://example.com",
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type,x-service-env",
        },
      });
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
      assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
      assert.equal(preflight.headers.get("access-control-allow-headers"), "content-type,x-service-env");
      const sent = await service.send(EVENT, { headers: { origin: "https://example.com" } });
      assert.equal(sent.headers.get("access-control-allow-origin"), "*");
    },

    "a seed fixes the ids, and sending again is not a second event": async (service) => {
      const headers = { "x-inngest-event-id-seed": `1700000000000,${Buffer.alloc(10, 7).toString("base64")}` };
      const event = { ...EVENT, name: "shop/order.seeded" };
      const batch = [event, event, event];
      const first = await service.send(batch, { headers });
      const again = await service.send(batch, { headers });
      assert.deepEqual(again.body.ids, first.body.ids);
      assert.equal(new Set(first.body.ids).size, 3);
      assert.equal(await countOf(service, event.name), 3);
      const ignored = await service.send(event, { headers: { "x-inngest-event-id-seed": "nonsense" } });
      assert.equal(ignored.status, 200);
      assert.equal(await countOf(service, event.name), 4);
    },

    "fields the service has no rule for stay; its own win on reading": async (service) => {
      const { body } = await service.send({
        ...EVENT,
        v: "2026-01-01",
        user: { id: 1 },
        meta: [1, 2],
        source: "mine",
        duplicates: 99,
        receivedAt: "never",
      });
      const { data } = (await service.rest("GET", `/events/${body.ids[0]}`)).body;
      assert.deepEqual([data.v, data.user, data.meta], ["2026-01-01", { id: 1 }, [1, 2]]);
      assert.equal(data.source.kind, "key");
      assert.equal(data.duplicates, 0);
      assert.notEqual(data.receivedAt, "never");
    },
  }),
);

test("5,000 events are one request, 5,001 are too many", async (t) => {
  const service = await startTestService(t, { flags: ["--body-limit", "1mb"] });
  const many = (count: number) => Array.from({ length: count }, () => ({ name: "a/b", data: {} }));
  assert.equal((await service.send(many(5_000))).body.ids.length, 5_000);
  assertRefused(await service.send(many(5_001)), 400, "events_too_many");
});

test("a dev server takes any key", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  for (const key of ["anything", "test", "a/b", "%"]) assert.equal((await service.send(EVENT, { key })).status, 200, key);
  const { body } = await service.rest("GET", "/events", { headers: { authorization: "" } });
  assert.equal(body.data.length, 4);
  assert.equal(body.data[0].environment, "dev");
});

function bodyOf(bytes: number): string {
  const [before, after] = ['{"name":"a/b","data":{"x":"', '"}}'];
  return before + "y".repeat(bytes - before.length - after.length) + after;
}

/** What the server answers when only the head of a request has been sent. */
function rawResponse(t: TestContext, service: TestService, headers: string, body: string): Promise<string> {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  onEnd(t, () => socket.destroy());
  return new Promise((resolve, reject) => {
    let answer = "";
    socket.on("error", reject);
    socket.on("data", (chunk) => {
      answer += chunk;
      if (answer.endsWith("}")) resolve(answer);
    });
    socket.write(`POST /e/${EVENT_KEY} HTTP/1.1\r\nhost: test\r\ncontent-type: application/json\r\n${headers}\r\n${body}`);
  });
}
