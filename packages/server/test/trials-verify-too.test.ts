/** The tester and the back-test run handshake and verification before the transform, and say which header or byte was wrong. */

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { ECHO, makeWebhook, post, requestsOf } from "./support/webhooks.ts";

const SECRET = "a secret of a provider";
const sign = (text: string) => ({ "x-hub-signature-256": `sha256=${createHmac("sha256", SECRET).update(text).digest("hex")}` });

test(
  "trials of one service",
  onOneService({
    "a trial says which header, character or byte is wrong": async (service) => {
      const webhook = await makeWebhook(service, ECHO, { verify: { scheme: "github", secrets: [SECRET] } });
      const trial = async (body: object) => (await service.rest("POST", `/webhooks/${webhook.id}/test`, { body })).body.data;
      const signed = '{"a":1,"b":[2]}';
      assert.deepEqual((await trial({ raw: signed, headers: sign(signed) })).verification, { ok: true });
      assert.equal((await trial({ raw: signed, headers: sign(signed) })).event.name, "hook/received");

      const missing = await trial({ raw: signed });
      assert.deepEqual([missing.ok, missing.error.code, missing.verification.header], [false, "signature_invalid", "X-Hub-Signature-256"]);
      const cut = await trial({ raw: signed, headers: { "x-hub-signature-256": "sha256=00g0" } });
      assert.deepEqual([cut.verification.header, cut.verification.character], ["X-Hub-Signature-256", 10]);
      const spaced = await trial({ raw: '{"a": 1, "b": [2]}', headers: sign(signed) });
      assert.deepEqual([spaced.verification.byte, spaced.error.code], [6, "signature_invalid"]);
      assert.match(spaced.error.message, /this JSON written differently; the first byte that differs is byte 6/);
      assert.equal((await trial({ raw: `${signed}\n`, headers: sign(signed) })).verification.byte, signed.length + 1);
      const unknown = await trial({ raw: '{"a":2}', headers: sign(signed) });
      assert.equal(unknown.verification.byte, undefined, "nothing is made up");
      assert.equal((await trial({ body: { a: 1 }, sign: true })).ok, true, "signed here");
      assert.deepEqual(await requestsOf(service, webhook), [], "nothing is stored");

      const draft = async (body: object) => {
        const named = { transform: "(evt, headers) => ({ name: 'draft/made', data: headers })", webhookId: webhook.id, ...body };
        return (await service.rest("POST", "/transforms/test", { body: named })).body.data;
      };
      assert.deepEqual(
        (await draft({ raw: signed })).verification.header,
        "X-Hub-Signature-256",
        "a draft after the webhook's verification",
      );
      assert.equal((await draft({ raw: signed, sign: true })).event.name, "draft/made");

      // A secret that a trial puts into a header is not shown to the transform.
      const echo = "(evt, headers) => ({ name: 'a/b', data: headers })";
      for (const verify of [
        { scheme: "header", header: "X-Token", secrets: [SECRET] },
        { scheme: "basic", user: "u", secrets: [SECRET] },
      ]) {
        const webhook = await makeWebhook(service, echo, { verify });
        const { body } = await service.rest("POST", `/webhooks/${webhook.id}/test`, { body: { raw: "{}", sign: true } });
        assert.deepEqual([body.data.ok, body.data.event.data["X-Token"] ?? body.data.event.data.Authorization], [true, "***"]);
      }
    },

    "a trial runs the handshake": async (service) => {
      const webhook = await makeWebhook(service, ECHO, { handshake: { preset: "dropbox" } });
      const trial = async (body: object) => (await service.rest("POST", `/webhooks/${webhook.id}/test`, { body })).body.data;
      const asked = await trial({ method: "GET", queryParams: { challenge: "abc" } });
      assert.deepEqual([asked.ok, asked.handshake.body, asked.event], [true, "abc", undefined]);
      assert.equal((await trial({ method: "GET" })).error.code, "method_not_allowed");
      assert.equal((await trial({ body: {} })).event.name, "hook/received");
    },

    "a back-test runs both on recorded requests": async (service) => {
      const webhook = await makeWebhook(service, ECHO, { verify: { scheme: "github", secrets: [SECRET] }, handshake: { preset: "slack" } });
      await post(webhook.url, '{"n":1}', sign('{"n":1}'));
      await post(webhook.url, '{"n":2}', sign('{"n":1}'));
      await post(webhook.url, { type: "url_verification", challenge: "c" });
      const draft = "(evt) => ({ name: 'other/name', data: evt })";
      const { body } = await service.rest("POST", `/webhooks/${webhook.id}/backtest`, { body: { transform: draft } });
      const { summary, requests } = body.data;
      assert.deepEqual(summary, { same: 1, different: 1, now_fails: 0, now_works: 0, still_fails: 1 });
      assert.deepEqual(
        requests.map(({ after }: { after: { handshake?: { body: string }; error?: { code: string }; event?: object } }) => [
          after.handshake?.body,
          after.error?.code,
          after.event !== undefined,
        ]),
        [
          ["c", undefined, false],
          [undefined, "signature_invalid", false],
          [undefined, undefined, true],
        ],
      );
    },
  }),
);
