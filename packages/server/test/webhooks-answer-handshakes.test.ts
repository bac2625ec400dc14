/**
 * A webhook with a handshake answers the question that its provider asks before it sends anything: by preset, or by code in the sandbox.
 * The response is plain text or JSON that no browser takes for a page; the request is recorded and makes no event.
 */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { call, type TestService } from "./support/service.ts";
import { ECHO, makeWebhook, post, requestsOf, type TestWebhook } from "./support/webhooks.ts";

const SECRET = "the app's own secret";
const hmac = (text: string, encoding: "hex" | "base64") => createHmac("sha256", SECRET).update(text).digest(encoding);

function open(service: TestService, handshake: object | null, more: object = {}): Promise<TestWebhook> {
  return makeWebhook(service, ECHO, { handshake, ...more });
}

async function lastOf(service: TestService, webhook: TestWebhook) {
  return (await requestsOf(service, webhook))[0];
}

interface Preset {
  secrets?: string[];
  ask(url: string): ReturnType<typeof call>;
  text: string;
}

const PRESETS: Record<string, Preset> = {
  slack: { ask: (url) => post(url, { type: "url_verification", challenge: "3eZbrw", token: "t" }), text: "3eZbrw" },
  meta: {
    secrets: ["other", "my token"],
    ask: (url) => call(`${url}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=my+token`),
    text: "1158201444",
  },
  "microsoft-graph": {
    ask: (url) =>
      call(`${url}?validationToken=Validation%3A+Testing+%3Cb%3E`, { method: "POST", headers: { "content-type": "text/plain" } }),
    text: "Validation: Testing <b>",
  },
  x: {
    secrets: [SECRET],
    ask: (url) => call(`${url}?crc_token=abc&nonce=1`),
    text: JSON.stringify({ response_token: `sha256=${hmac("abc", "base64")}` }),
  },
  dropbox: { ask: (url) => call(`${url}?challenge=xyz`), text: "xyz" },
  zoom: {
    secrets: [SECRET],
    ask: (url) => post(url, { event: "endpoint.url_validation", payload: { plainToken: "qgg8vlvZ" }, event_ts: 1 }),
    text: JSON.stringify({ plainToken: "qgg8vlvZ", encryptedToken: hmac("qgg8vlvZ", "hex") }),
  },
  okta: {
    ask: (url) => call(url, { headers: { "x-okta-verification-challenge": "my challenge" } }),
    text: '{"verification":"my challenge"}',
  },
  asana: { ask: (url) => post(url, "", { "x-hook-secret": "handed over secret" }), text: "" },
};

test(
  "webhooks answer handshakes",
  onOneService({
    "every preset answers as its provider asks, and other requests go on": async (service) => {
      for (const [preset, { secrets, ask, text }] of Object.entries(PRESETS)) {
        const webhook = await makeWebhook(service, ECHO, { handshake: { preset, ...(secrets && { secrets }) } });
        const answer = await ask(webhook.url);
        assert.deepEqual([answer.status, answer.text], [200, text], preset);
        assert.match(answer.headers.get("content-type") ?? "", text.startsWith("{") ? /^application\/json/ : /^text\/plain/);
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
        for (const name of ["set-cookie", "access-control-allow-origin"]) assert.equal(answer.headers.get(name), null);
        const { outcome, status, eventId } = await lastOf(service, webhook);
        assert.deepEqual([outcome, status, eventId], ["handshake", 200, undefined], preset);
        assert.equal((await post(webhook.url, { n: 1 })).status, 200, preset);
        assert.equal((await lastOf(service, webhook)).outcome, "accepted");
        const unasked = await call(webhook.url);
        assert.deepEqual(
          [unasked.status, unasked.body.code, unasked.headers.get("allow")],
          [405, "method_not_allowed", "POST, OPTIONS"],
          preset,
        );
      }
    },

    "a status without a body has no body, length or type": async (service) => {
      for (const status of [204, 304]) {
        const { url } = await open(service, { source: `() => ({ status: ${status}, body: 'x', headers: { 'X-Hook-Secret': 'y' } })` });
        const answer = await call(url);
        assert.deepEqual([answer.status, answer.text, answer.headers.get("x-hook-secret")], [status, "", "y"]);
        for (const name of ["content-length", "content-type"]) assert.equal(answer.headers.get(name), null, `${status} ${name}`);
      }
    },

    "a wrong verify token is refused, and neither kind gets into the record": async (service) => {
      const webhook = await open(service, { preset: "meta", secrets: ["my verify token"] });
      for (const token of ["wrong verify token", "my verify token"]) {
        const query = `?hub.mode=subscribe&hub.challenge=1&hub.verify_token=${encodeURIComponent(token)}`;
        assert.equal((await call(webhook.url + query)).status, token.startsWith("my") ? 200 : 401);
        const record = await lastOf(service, webhook);
        assert.deepEqual(record.query["hub.verify_token"], ["***"]);
        assert.ok(!JSON.stringify(record).includes("verify%20token"));
      }
    },

    "without secrets of its own a handshake uses those of verify, and comes before it": async (service) => {
      const verify = {
        scheme: "hmac",
        header: "x-zm-signature",
        prefix: "v0=",
        signed: "v0:{timestamp}:{raw}",
        timestampHeader: "x-zm-request-timestamp",
        secrets: [SECRET],
      };
      const webhook = await open(service, { preset: "zoom" }, { verify });
      const asked = await PRESETS.zoom?.ask(webhook.url);
      assert.equal(asked?.text, PRESETS.zoom?.text);
      assert.equal((await post(webhook.url, { event: "meeting.started" })).status, 401);
      const body = JSON.stringify({ event: "meeting.started" });
      const at = String(Math.floor(Date.now() / 1_000));
      const signed = { "x-zm-request-timestamp": at, "x-zm-signature": `v0=${hmac(`v0:${at}:${body}`, "hex")}` };
      assert.equal((await post(webhook.url, body, signed)).status, 200);
    },

    "the secret Asana hands over verifies what follows; a second one is not taken": async (service) => {
      const webhook = await open(
        service,
        { preset: "asana" },
        { verify: { scheme: "hmac", header: "X-Hook-Signature", algorithm: "sha256", encoding: "hex", signed: "{raw}" } },
      );
      assert.equal((await post(webhook.url, "{}", { "x-hook-signature": "00".repeat(32) })).status, 401);
      const asked = await post(webhook.url, "", { "x-hook-secret": SECRET });
      assert.deepEqual([asked.status, asked.headers.get("x-hook-secret")], [200, SECRET]);
      assert.equal((await lastOf(service, webhook)).headers["X-Hook-Secret"], "***");
      assert.equal((await post(webhook.url, "{}", { "x-hook-signature": hmac("{}", "hex") })).status, 200);
      assert.equal((await post(webhook.url, "", { "x-hook-secret": SECRET })).status, 200, "the same again");
      assert.equal((await post(webhook.url, "", { "x-hook-secret": "of somebody else" })).status, 401);
      const shown = await service.rest("GET", `/webhooks/${webhook.id}`);
      assert.deepEqual(shown.body.data.verify.secrets, [{ last4: SECRET.slice(-4) }]);
    },

    "code answers, or lets the request go on; it sees what the contract names": async (service) => {
      const source = `function handshake({ method, headers, queryParams, raw, secrets }) {
    if (headers["X-Ask"] === undefined) return;
    console.log("asked with", secrets);
    const body = { method, a: queryParams.a, raw, mac: hmac("sha256", secrets[0], raw, "hex"), sum: sha256(raw, "base64") };
    return { status: 207, headers: { "Smartsheet-Hook-Response": "1", "X-Accel-Redirect": "/internal", "X-Sendfile": "/etc/passwd", "X-Content-Type-Options": "none", "X-Hook-Secret": "x".repeat(100000), "Set-Cookie": "a=b", "Access-Control-Allow-Origin": "*", "Content-Type": "text/html" }, body: JSON.stringify(body) };
  }`;
      const webhook = await open(service, { source, secrets: [SECRET] });
      const answer = await post(`${webhook.url}?a=1&a=2`, '{"n":1}', { "x-ask": "yes" });
      assert.equal(answer.status, 207);
      assert.deepEqual(
        ["smartsheet-hook-response", "x-accel-redirect", "x-sendfile", "x-hook-secret"].map((name) => answer.headers.get(name)),
        ["1", null, null, null],
      );
      assert.deepEqual(
        ["set-cookie", "access-control-allow-origin", "content-type"].map((name) => answer.headers.get(name)),
        [null, null, "text/plain; charset=utf-8"],
      );
      assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
      assert.deepEqual(
        [answer.body.method, answer.body.a, answer.body.raw, answer.body.mac],
        ["POST", ["1", "2"], '{"n":1}', hmac('{"n":1}', "hex")],
      );
      const record = await lastOf(service, webhook);
      assert.deepEqual([record.outcome, record.status, record.logs], ["handshake", 207, ['asked with ["***"]']]);
      const head = await call(webhook.url, { method: "HEAD", headers: { "x-ask": "yes" } });
      assert.deepEqual([head.status, head.text], [207, ""]);
      assert.equal((await lastOf(service, webhook)).method, "HEAD");
      assert.equal((await post(webhook.url, {})).status, 200);
      assert.equal((await call(webhook.url)).status, 405);
    },

    "code that throws, runs too long, says too much or nothing of use is handshake_failed": async (service) => {
      const webhook = await open(service, { source: "() => {}" });
      const bodies = [
        "throw new Error('no')",
        "for (;;);",
        "return { body: 'x'.repeat(8193) }",
        "return 7",
        "return { status: 99 }",
        "return []",
      ];
      for (const body of bodies) {
        const put = await service.rest("PUT", `/webhooks/${webhook.id}`, {
          body: { handshake: { source: `function handshake() { ${body} }` } },
        });
        assert.equal(put.status, 200, put.text);
        // Once is enough for what uses up its whole time.
        for (const method of body === "for (;;);" ? ["GET"] : ["GET", "POST"]) {
          const { status, body: error } = await call(webhook.url, { method });
          assert.deepEqual([status, error.code], [400, "handshake_failed"], `${method} ${body}`);
        }
        assert.equal((await lastOf(service, webhook)).outcome, "handshake_failed");
      }
      const most = { source: "() => ({ body: 'x'.repeat(8192) })" };
      await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { handshake: most } });
      assert.equal((await call(webhook.url)).text.length, 8192);
    },

    "no preset answers with more than 8 KiB": async (service) => {
      const long = "x".repeat(9_000);
      const webhook = await open(service, { preset: "slack" });
      const asks: Record<string, () => ReturnType<typeof call>> = {
        slack: () => post(webhook.url, { type: "url_verification", challenge: long }),
        dropbox: () => call(`${webhook.url}?challenge=${long}`),
        "microsoft-graph": () => call(`${webhook.url}?validationToken=${long}`, { method: "POST" }),
        okta: () => call(webhook.url, { headers: { "x-okta-verification-challenge": long } }),
      };
      for (const [preset, ask] of Object.entries(asks)) {
        await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { handshake: { preset } } });
        const { status, body } = await ask();
        assert.deepEqual([status, body.code], [400, "handshake_failed"], preset);
      }
    },

    "a response of X's handshake is no signature of an event": async (service) => {
      const verify = { scheme: "hmac", header: "x-twitter-webhooks-signature", prefix: "sha256=", encoding: "base64", secrets: [SECRET] };
      const webhook = await open(service, { preset: "x" }, { verify });
      const forged = '{"for_user_id":"1"}';
      assert.equal((await call(`${webhook.url}?crc_token=${encodeURIComponent(forged)}`)).status, 401);
      for (const token of ["123", "true", "null", "abc"]) {
        const answer = await call(`${webhook.url}?crc_token=${token}`);
        assert.equal(answer.status, 200);
        const sent = await post(webhook.url, token, { "x-twitter-webhooks-signature": answer.body.response_token });
        assert.deepEqual([sent.status, sent.body.code], [401, "signature_invalid"], token);
      }
      const real = await post(webhook.url, forged, { "x-twitter-webhooks-signature": `sha256=${hmac(forged, "base64")}` });
      assert.equal(real.status, 200, real.text);
    },

    "code cannot answer with a secret, in any usual form": async (service) => {
      const hex = "[...secrets[0]].map((letter) => letter.charCodeAt(0).toString(16)).join('')";
      for (const answer of [
        "{ body: secrets[0] }",
        "{ body: { secrets } }",
        "{ headers: { 'X-Hook-Secret': secrets[0] } }",
        `{ body: ${hex} }`,
      ]) {
        const source = `function handshake({ secrets }) { console.log(${hex}); return ${answer}; }`;
        const webhook = await makeWebhook(service, ECHO, { handshake: { source, secrets: [SECRET] } });
        const { status, body } = await call(webhook.url);
        assert.deepEqual([status, body.code], [400, "handshake_failed"], answer);
        assert.deepEqual((await lastOf(service, webhook)).logs, ["***"]);
      }
    },

    "code is given no secret of verify, so that it can neither tell nor use one": async (service) => {
      const source = `function handshake({ headers, secrets }) {
    console.log(headers["X-Token"] ?? "none");
    if (headers["X-Ask"] !== undefined) return { body: { secrets, token: headers["X-Token"], made: hmac("sha256", secrets[0] ?? "", "{}", "hex") } };
  }`;
      const webhook = await open(service, { source }, { verify: { scheme: "header", header: "x-token", secrets: [SECRET] } });
      const asked = await post(webhook.url, "{}", { "x-ask": "1", "x-token": SECRET });
      assert.deepEqual([asked.status, asked.body.secrets, asked.body.token], [200, [], "***"]);
      assert.notEqual(asked.body.made, hmac("{}", "hex"));
      assert.equal((await post(webhook.url, "{}", { "x-token": SECRET })).status, 200, "verification reads it all the same");
      assert.deepEqual((await lastOf(service, webhook)).logs[0], "***");
      const tried = await service.rest("POST", `/webhooks/${webhook.id}/test`, {
        body: { body: {}, headers: { "X-Ask": "1" }, sign: true },
      });
      assert.deepEqual(JSON.parse(tried.body.data.handshake.body).token, "***");
    },

    "secrets of a handshake are not handed to code that was written later": async (service) => {
      const tells = { source: "({ secrets }) => ({ body: secrets.map((one) => [...one].reverse().join('')) })" };
      for (const handshake of [
        { preset: "zoom", secrets: [SECRET] },
        { source: "() => ({ body: 'ok' })", secrets: [SECRET] },
      ]) {
        const webhook = await makeWebhook(service, ECHO, { handshake });
        const put = async (changed: object) =>
          (await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { handshake: changed } })).body;
        assert.equal((await put(tells)).details?.[0].field, "handshake.secrets");
        const { secrets: _, ...same } = handshake;
        assert.equal((await put(same)).data?.handshake.secrets.length, 1, "the same handshake keeps its secrets");
        assert.deepEqual((await put({ ...tells, secrets: ["another secret"] })).data?.handshake.secrets, [{ last4: "cret" }]);
        await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { handshake: null } });
        assert.equal((await put(tells)).data?.handshake.source, tells.source);
        assert.deepEqual((await call(webhook.url)).body, [], "taking the handshake away takes its secrets away");
      }
    },

    "without a handshake GET and HEAD stay 405, unrecorded": async (service) => {
      const webhook = await open(service, null);
      for (const method of ["GET", "HEAD", "PUT"]) assert.equal((await call(webhook.url, { method })).status, 405);
      assert.deepEqual(await requestsOf(service, webhook), []);
    },

    "handshakes that cannot work are refused": async (service) => {
      const wrong = [
        { preset: "none" },
        {},
        { preset: "slack", source: "() => 1" },
        { preset: "zoom" },
        { preset: "slack", secrets: [] },
        { source: "(" },
      ];
      for (const handshake of wrong) {
        const { status } = await service.rest("POST", "/webhooks", { body: { name: "w", transform: ECHO, handshake } });
        assert.equal(status, 400, JSON.stringify(handshake));
      }
      const { body } = await service.rest("POST", "/webhooks", {
        body: { name: "w", transform: ECHO, handshake: { source: "function handshake( {" } },
      });
      assert.deepEqual([body.details[0].field, typeof body.details[0].line], ["handshake.source", "number"]);
    },
  }),
);
