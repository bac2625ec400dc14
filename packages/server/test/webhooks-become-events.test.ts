/** POST /e/:token: what a transform sees, what its responses become, and how each failure is answered and recorded. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { startTestService } from "./support/service.ts";
import { ECHO, eventOf, makeWebhook, post, requestsOf } from "./support/webhooks.ts";

test(
  "webhooks become events",
  onOneService({
    "the four parameters, exactly as the specification says": async (service) => {
      const { url } = await makeWebhook(service);
      const raw = '{ "a": [1, 2], "é": "\\u00e9" }';
      const answer = await post(`${url}?x=1&x=2&empty=&__proto__=p`, raw, {
        "x-example-EVENT": "push",
        "x-hub-signature-256": "sha256=abc",
      });
      const { name, data, source } = await eventOf(service, answer);
      assert.equal(name, "hook/received");
      assert.deepEqual(data.evt, { a: [1, 2], é: "é" });
      assert.equal(data.headers["X-Example-Event"], "push");
      assert.equal(data.headers["X-Hub-Signature-256"], "sha256=abc");
      assert.equal(data.headers["x-example-event"], undefined);
      assert.deepEqual([data.queryParams.x, data.queryParams.empty], [["1", "2"], [""]]);
      assert.ok(JSON.stringify(data.queryParams).includes('"__proto__":["p"]'));
      assert.equal(data.raw, raw);
      assert.deepEqual([source.kind, source.name], ["webhook", "test hook"]);
    },

    "forms: values are always arrays of strings; files become their names; other bodies are in raw": async (service) => {
      const { url } = await makeWebhook(service);
      const form = await eventOf(service, await post(url, "a=1&a=2&b=x+y&c=", { "content-type": "application/x-www-form-urlencoded" }));
      assert.deepEqual([form.data.evt, form.data.raw], [{ a: ["1", "2"], b: ["x y"], c: [""] }, "a=1&a=2&b=x+y&c="]);

      const parts = [
        "--B",
        'Content-Disposition: form-data; name="k"',
        "",
        "v1",
        "--B",
        'Content-Disposition: form-data; name="f"; filename="a.txt"',
        "",
        "content",
        "--B--",
        "",
      ];
      const multipart = await eventOf(service, await post(url, parts.join("\r\n"), { "content-type": "multipart/form-data; boundary=B" }));
      assert.deepEqual(multipart.data.evt, { k: ["v1"], f: ["a.txt"] });

      for (const [body, type] of [
        ["<a/>", "application/xml"],
        ["plain", "text/plain"],
        ["", "application/json"],
      ] as const) {
        const event = await eventOf(service, await post(url, body, { "content-type": type }));
        assert.deepEqual([event.data.evt, event.data.raw], [{}, body], type);
      }
      const zipped = await eventOf(service, await post(url, gzipSync('{"zipped":true}'), { "content-encoding": "gzip" }));
      assert.deepEqual([zipped.data.evt, zipped.data.raw], [{ zipped: true }, '{"zipped":true}']);
    },

    "raw is what was signed: a signature can be checked later from the stored event": async (service) => {
      const { url } = await makeWebhook(
        service,
        `(evt, headers, query, raw) => ({ name: "stripe/x", data: { raw, sig: headers["Stripe-Signature"] } })`,
      );
      const bodies = ['{"n":1.0, "big":12345678901234567890}', '{"u":"\\u00e9é😀\\ud83d\\ude00"}', '{\r\n\t"x" : 1\r\n}\n', " { } "];
      for (const body of bodies) {
        const signature = createHmac("sha256", "secret").update(Buffer.from(body)).digest("hex");
        const { data } = await eventOf(service, await post(url, body, { "stripe-signature": signature }));
        assert.equal(createHmac("sha256", "secret").update(data.raw).digest("hex"), data.sig);
      }
    },

    "id and ts of the transform are used: duplicates are kept out across entrances": async (service) => {
      const { url } = await makeWebhook(service, "evt => ({ name: 'a/b', data: evt, id: evt.id, ts: evt.created * 1000 })");
      const first = await post(url, { id: "evt_1", created: 1_700_000_000 });
      const again = await post(url, { id: "evt_1", created: 1_800_000_000 });
      assert.deepEqual(again.body.ids, first.body.ids);
      const byKey = await service.send({ name: "other/name", data: {}, id: "evt_1" });
      assert.deepEqual(byKey.body.ids, first.body.ids);
      const event = await eventOf(service, first);
      assert.deepEqual([event.ts, event.duplicates, event.dedupId], [1_700_000_000_000, 2, "evt_1"]);
    },

    "each way a transform can fail is a 400 of its own, with the place in the source": async (service) => {
      const stored = async () => (await service.rest("GET", "/events?limit=100")).body.data.map(({ id }: { id: string }) => id);
      const before = await stored();
      const cases: [string, string, RegExp][] = [
        ["evt => {\n  throw new Error('no such type');\n}", "transform_failed", /no such type.*line 2/],
        ["async evt => { throw new TypeError('later'); }", "transform_failed", /later/],
        ["evt => [{ name: 'a', data: {} }]", "transform_invalid_event", /array/],
        ["evt => undefined", "transform_invalid_event", /./],
        ["evt => ({ name: '', data: {} })", "transform_invalid_event", /name must not be empty/],
        ["evt => ({ name: 'inngest/x', data: {} })", "transform_invalid_event", /reserved/],
        ["evt => ({ name: 'a', data: [] })", "transform_invalid_event", /data must be an object/],
        ["evt => { for (;;); }", "transform_timeout", /./],
        ["evt => { const a = []; for (;;) a.push(new Uint8Array(1e6)); }", "transform_memory", /./],
      ];
      for (const [transform, code, message] of cases) {
        const webhook = await makeWebhook(service, transform);
        const answer = await post(webhook.url, { n: 1 });
        assert.deepEqual([answer.status, answer.body.code], [400, code], transform);
        assert.match(answer.body.error, message, transform);
        const [record] = await requestsOf(service, webhook);
        assert.deepEqual([record.status, record.outcome, record.error, record.body], [400, code, answer.body.error, '{"n":1}'], transform);
      }
      assert.deepEqual(await stored(), before, "nothing was stored as an event");
    },

    "a transform that catches its own error answers 200 with the event it returns": async (service) => {
      const { url } = await makeWebhook(
        service,
        "evt => { try { evt.a.b.c } catch (e) { return { name: 'hook/failed', data: { error: String(e), evt } } } }",
      );
      assert.match((await eventOf(service, await post(url, {}))).data.error, /TypeError/);
    },

    "declared JSON that does not parse, and bodies over the limit, are refused and recorded": async (service) => {
      const webhook = await makeWebhook(service);
      const invalid = await post(webhook.url, '{"a":');
      assert.deepEqual([invalid.status, invalid.body.code], [400, "body_invalid"]);
      const large = await post(webhook.url, JSON.stringify({ x: "y".repeat(600_000) }));
      assert.deepEqual([large.status, large.body.code], [413, "body_too_large"]);
      const bomb = await post(webhook.url, gzipSync(Buffer.alloc(5_000_000, " ")), { "content-encoding": "gzip" });
      assert.deepEqual([bomb.status, bomb.body.code], [413, "body_too_large"], "the limit holds for what is decoded");
      const records = await requestsOf(service, webhook);
      assert.deepEqual(
        records.map(({ outcome, body }: { outcome: string; body: string | null }) => [outcome, body?.slice(0, 5) ?? null]).slice(1),
        [
          ["body_too_large", null],
          ["body_invalid", '{"a":'],
        ],
      );
    },

    "lists of names and addresses": async (service) => {
      const send = async (extra: object) => {
        const webhook = await makeWebhook(service, ECHO, extra);
        const { status, body } = await post(webhook.url);
        assert.equal((await requestsOf(service, webhook))[0].outcome, body.code ?? "accepted");
        return [status, body.code];
      };
      assert.deepEqual(await send({ eventNames: { mode: "allow", list: ["hook/*"] } }), [200, undefined]);
      assert.deepEqual(await send({ eventNames: { mode: "deny", list: ["hook/received"] } }), [403, "event_name_denied"]);
      assert.deepEqual(await send({ ips: { mode: "allow", list: ["10.0.0.0/8"] } }), [403, "ip_denied"]);
      assert.deepEqual(await send({ ips: { mode: "allow", list: ["127.0.0.0/8"] } }), [200, undefined]);
    },

    "a webhook of the shared scope routes by header or query; what reaches no branch is stored there and still 200": async (service) => {
      await service.rest("POST", "/environments", { body: { name: "feature/cart", kind: "branch" } });
      await service.rest("POST", "/environments", { body: { name: "staging", kind: "custom" } });
      const { url } = await makeWebhook(service, ECHO, { environment: "branch" });
      const landsIn = async (answer: Awaited<ReturnType<typeof post>>, environment: string) => {
        assert.equal((await eventOf(service, answer, environment)).environment, environment);
      };
      await landsIn(await post(url, {}, { "x-service-env": "feature/cart" }), "feature/cart");
      await landsIn(await post(`${url}?x-service-env=feature%2Fcart`), "feature/cart");
      await landsIn(await post(`${url}?x%2Dservice%2Denv=feature/cart`), "feature/cart");
      await landsIn(await post(`${url}?x-service-env=other`, {}, { "x-service-env": "feature/cart" }), "feature/cart");
      await landsIn(await post(url), "branch");
      await landsIn(await post(`${url}?x-service-env=unknown`), "branch");
      await landsIn(await post(`${url}?x-service-env=staging`), "branch");
      const named = await post(`${url}?x-service-env=feature%2Fcart&k=v`);
      assert.deepEqual((await eventOf(service, named, "feature/cart")).data.queryParams, { "x-service-env": ["feature/cart"], k: ["v"] });
      await service.rest("POST", "/environments/feature%2Fcart/archive");
      await landsIn(await post(`${url}?x-service-env=feature%2Fcart`), "branch");
    },

    "the result of a transform may be as large as the body limit of its environment": async (service) => {
      const headers = { "x-service-env": "large" };
      await service.rest("POST", "/environments", { body: { name: "large" } });
      await service.rest("PUT", "/environments/large", { body: { bodyLimitBytes: 600_000 } });
      const large = await makeWebhook(service, "(evt) => ({ name: 'a/b', data: { x: 'y'.repeat(evt.n) } })", {}, headers);
      const trialOf = async (n: number) =>
        (await service.rest("POST", `/webhooks/${large.id}/test`, { body: { body: { n } }, headers })).body.data.ok;
      const around = JSON.stringify({ name: "a/b", data: { x: "" } }).length;
      assert.equal((await post(large.url, { n: 600_000 - around })).status, 200);
      assert.equal(await trialOf(600_000 - around), true);
      const refused = await post(large.url, { n: 600_001 - around });
      assert.deepEqual([refused.status, refused.body.code], [400, "transform_invalid_event"]);
      assert.equal(await trialOf(600_001 - around), false);
    },

    "a webhook of the shared scope is held to the body limit of the branch that it delivers to": async (service) => {
      for (const [name, bodyLimitBytes] of Object.entries({ "feature/large": 600_000, "feature/small": 1_000 }))
        await service.rest("POST", "/environments", { body: { name, kind: "branch", bodyLimitBytes } });
      const { url } = await makeWebhook(service, "(evt) => ({ name: 'a/b', data: { x: 'y'.repeat(evt.n) } })", { environment: "branch" });
      const codeOf = async (branch: string, body: object) => {
        const answer = await post(`${url}?x-service-env=${branch}`, body);
        return answer.status === 200 ? 200 : answer.body.code;
      };
      assert.equal(await codeOf("feature/large", { n: 590_000 }), 200);
      assert.equal(await codeOf("feature/large", { n: 1, rest: "z".repeat(590_000) }), 200);
      assert.equal(await codeOf("feature/small", { n: 1_000 }), "transform_invalid_event");
      assert.equal(await codeOf("feature/small", { n: 1, rest: "z".repeat(1_000) }), "body_too_large");
      assert.equal(await codeOf("unknown", { n: 1_000 }), 200);
      await service.rest("POST", "/environments/feature%2Fsmall/archive");
      assert.equal(await codeOf("feature/small", { n: 1_000 }), 200);
    },

    "every accepted request has its event, and every event its request": async (service) => {
      const webhook = await makeWebhook(service);
      await Promise.all(Array.from({ length: 50 }, (_, n) => post(webhook.url, { n })));
      const records = await requestsOf(service, webhook, "limit=100");
      const { body } = await service.rest("GET", `/events?limit=100&source=${webhook.id}`);
      assert.deepEqual(
        records.map(({ eventId }: { eventId: string }) => eventId).sort(),
        body.data.map(({ id }: { id: string }) => id).sort(),
      );
    },
  }),
);

test("an accepted request is recorded in full, with its event", async (t) => {
  const service = await startTestService(t, { flags: ["--mask-headers", "Authorization,x-secret"] });
  const webhook = await makeWebhook(service, "(evt) => { console.log('got', evt.n); return { name: 'a/b', data: evt } }");
  const answer = await post(`${webhook.url}?q=1`, { n: 7 }, { authorization: "Bearer hush", "X-Secret": "hush", "x-plain": "seen" });
  const [record] = await requestsOf(service, webhook);
  assert.deepEqual([record.method, record.status, record.outcome, record.eventId], ["POST", 200, "accepted", answer.body.ids[0]]);
  assert.deepEqual([record.query, record.contentType, record.body, record.logs], [{ q: ["1"] }, "application/json", '{"n":7}', ["got 7"]]);
  assert.deepEqual([record.environment, record.transformVersion, record.ip], ["production", 1, "127.0.0.1"]);
  assert.deepEqual([record.headers.Authorization, record.headers["X-Secret"], record.headers["X-Plain"]], ["***", "***", "seen"]);
  assert.equal(typeof record.durationMs, "number");
  const odd = await post(webhook.url, Buffer.from([0xff, 0xfe, 0x41]), { "content-type": "text/plain" });
  assert.equal(odd.status, 200);
  assert.equal((await requestsOf(service, webhook))[0].bodyBase64, Buffer.from([0xff, 0xfe, 0x41]).toString("base64"));
});

test("disabled, rotated and deleted webhooks answer 404, in dev as well", async (t) => {
  const service = await startTestService(t, { mode: "dev" });
  const webhook = await makeWebhook(service);
  const code = async (url: string) => {
    const { status, body } = await post(url);
    return [status, body.code];
  };
  await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { enabled: false } });
  assert.deepEqual(await code(webhook.url), [404, "webhook_not_found"]);
  await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { enabled: true } });
  assert.deepEqual(await code(webhook.url), [200, undefined]);
  const rotated = (await service.rest("POST", `/webhooks/${webhook.id}/rotate`)).body.data;
  assert.notEqual(rotated.url, webhook.url);
  assert.deepEqual(await code(webhook.url), [404, "webhook_not_found"]);
  assert.deepEqual(await code(rotated.url), [200, undefined]);
  await service.rest("DELETE", `/webhooks/${webhook.id}`);
  assert.deepEqual(await code(rotated.url), [404, "webhook_not_found"]);
  assert.equal((await service.rest("GET", `/webhooks/${webhook.id}`)).status, 404);
});

test("records are found by time and outcome", async (t) => {
  let now = 1_800_000_000_000;
  const service = await startTestService(t, { now: () => now });
  const webhook = await makeWebhook(service);
  await post(webhook.url);
  now += 2 * 3_600_000;
  await post(webhook.url);
  assert.equal((await requestsOf(service, webhook)).length, 2);
  assert.equal((await requestsOf(service, webhook, "outcome=accepted")).length, 2);
  assert.equal((await requestsOf(service, webhook, `from=${now - 1_000}`)).length, 1);
  assert.equal((await requestsOf(service, webhook, "outcome=transform_failed")).length, 0);
  assert.equal((await requestsOf(service, webhook, "outcome=handshake")).length, 0);
  const unknown = await service.rest("GET", `/webhooks/${webhook.id}/requests?outcome=transfrom_failed`);
  const message =
    'must be accepted, handshake or the code of an error such as transform_failed, not "transfrom_failed" (did you mean transform_failed?)';
  assert.deepEqual([unknown.status, unknown.body.details], [400, [{ field: "outcome", message }]]);
  const job = { kind: "requests.replay", filter: { webhook: webhook.id, outcome: "bogus" } };
  const refused = await service.rest("POST", "/jobs", { body: job });
  assert.deepEqual([refused.status, refused.body.code], [400, "request_invalid"]);
  assert.match(refused.body.error, /^outcome must be accepted, .*, not "bogus"\.$/);
});
