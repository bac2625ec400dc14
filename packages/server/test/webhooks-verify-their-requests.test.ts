/**
 * A webhook that verifies takes only what was signed with one of its secrets, lately: for every scheme, over the bytes as they were sent,
 * before anything is parsed or any code of the user runs. Its secrets are written and never come out again.
 */

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { gzipSync } from "node:zlib";
import { test } from "./support/both-stores.ts";
import { onOneService } from "./support/one-service.ts";
import { type Answer, call, startTestService, type TestService } from "./support/service.ts";
import { storedText } from "./support/store-contents.ts";
import { ECHO, eventOf, makeWebhook, post, requestsOf, type TestWebhook } from "./support/webhooks.ts";

const NOW = 1_760_000_000_000;
const SECONDS = String(NOW / 1_000);
const SECRET = "a secret of a provider";
const JSON_TYPE = { "content-type": "application/json" };
const BODY = '{ "n": 1.0, "text": "\u00e9" }';

const hmac = (algorithm: string, secret: string | Buffer, text: string | Buffer, encoding: "hex" | "base64" = "hex") =>
  createHmac(algorithm, secret).update(text).digest(encoding);

interface Signing {
  verify: object;
  secret?: string;
  headers(body: string, secret: string, at: string, url: string): Record<string, string>;
}

const KEY = Buffer.from("standard webhooks key").toString("base64");
const standard = (family: string) => (body: string, _: string, at: string) => ({
  [`${family}-id`]: "msg_1",
  [`${family}-timestamp`]: at,
  [`${family}-signature`]: `v1,bm90IHRoaXMgb25l v1,${hmac("sha256", Buffer.from(KEY, "base64"), `msg_1.${at}.${body}`, "base64")}`,
});

/** Each provider's signature, computed here from its documentation. */
const SCHEMES: Record<string, Signing> = {
  "standard-webhooks": { verify: { scheme: "standard-webhooks" }, secret: `whsec_${KEY}`, headers: standard("webhook") },
  svix: { verify: { scheme: "standard-webhooks" }, secret: `whsec_${KEY}`, headers: standard("svix") },
  stripe: {
    verify: { scheme: "stripe" },
    headers: (body, secret, at) => ({
      "stripe-signature": `t=${at},v1=${"0".repeat(64)},v1=${hmac("sha256", secret, `${at}.${body}`)},v0=x`,
    }),
  },
  github: {
    verify: { scheme: "github" },
    headers: (body, secret) => ({ "x-hub-signature-256": `sha256=${hmac("sha256", secret, body)}` }),
  },
  shopify: {
    verify: { scheme: "shopify" },
    headers: (body, secret) => ({ "x-shopify-hmac-sha256": hmac("sha256", secret, body, "base64") }),
  },
  slack: {
    verify: { scheme: "slack" },
    headers: (body, secret, at) => ({
      "x-slack-request-timestamp": at,
      "x-slack-signature": `v0=${hmac("sha256", secret, `v0:${at}:${body}`)}`,
    }),
  },
  linear: { verify: { scheme: "linear" }, headers: (body, secret) => ({ "linear-signature": hmac("sha256", secret, body) }) },
  hmac: {
    verify: {
      scheme: "hmac",
      algorithm: "sha512",
      encoding: "base64",
      header: "X-Sig",
      prefix: "v9=",
      signed: "{header:X-Id}|{timestamp}|{url}|{raw}",
      timestampHeader: "X-At",
    },
    headers: (body, secret, at, url) => ({
      "x-id": "7",
      "x-at": at,
      "x-sig": `v9=${hmac("sha512", secret, `7|${at}|${url}|${body}`, "base64")}`,
    }),
  },
  basic: {
    verify: { scheme: "basic", user: "provider" },
    headers: (_, secret) => ({ authorization: `Basic ${Buffer.from(`provider:${secret}`).toString("base64")}` }),
  },
  header: { verify: { scheme: "header", header: "X-Token" }, headers: (_, secret) => ({ "x-token": secret }) },
};
const TIMED = ["standard-webhooks", "svix", "stripe", "slack", "hmac"];
const PUBLIC_URL = "https://hooks.example.com";
const FLAGS = ["--public-url", PUBLIC_URL];

/** A webhook with this verification, as it is reached here and as the provider knows it. */
async function verifying(service: TestService, verify: object, more: object = {}) {
  const made = await makeWebhook(service, ECHO, { verify, ...more });
  return { ...made, publicUrl: made.url, url: made.url.replace(PUBLIC_URL, service.url) };
}

function taken(answer: Answer, what?: string): void {
  assert.equal(answer.status, 200, `${what ?? "the request"}: ${answer.text}`);
}

function refused(answer: Answer, reason: RegExp): void {
  assert.equal(answer.status, 401, answer.text);
  assert.equal(answer.body.code, "signature_invalid");
  assert.match(answer.body.error, reason);
}

test(
  "webhooks of one service",
  onOneService(
    {
      "every scheme takes what is signed right, and nothing else": async (service) => {
        for (const [name, { verify, secret = SECRET, headers }] of Object.entries(SCHEMES)) {
          const webhook = await verifying(service, { ...verify, secrets: ["another of the secrets", secret] });
          const signed = (body: string, key = secret) => headers(body, key, SECONDS, `${webhook.publicUrl}?a=%20b`);
          const url = `${webhook.url}?a=%20b`;
          const taken = await post(url, BODY, signed(BODY));
          assert.equal((await eventOf(service, taken)).data.raw, BODY, name);
          refused(await post(url, BODY), /is missing/);
          const isCredential = name === "basic" || name === "header";
          if (!name.startsWith("s") || name === "stripe") {
            refused(await post(url, BODY, signed(BODY, "wrong secret")), /does not match this body|are wrong/);
          }
          if (!isCredential) refused(await post(url, `${BODY} `, signed(BODY)), /does not match this body/);
          assert.deepEqual(
            (await requestsOf(service, webhook))
              .map(({ outcome, verified }: { outcome: string; verified: boolean }) => [outcome, verified])
              .at(-1),
            ["accepted", true],
          );
        }
      },

      "times outside the tolerance are refused, in both directions": async (service) => {
        for (const name of TIMED) {
          const { verify, secret = SECRET, headers } = SCHEMES[name] as Signing;
          const webhook = await verifying(service, { ...verify, secrets: [secret], toleranceSeconds: 10 });
          const at = (offset: number) =>
            post(webhook.url, BODY, headers(BODY, secret, String(Number(SECONDS) + offset), webhook.publicUrl));
          for (const offset of [-10, 0, 10]) taken(await at(offset), `${name} ${offset}`);
          refused(await at(-11), /11 seconds old/);
          refused(await at(11), /11 seconds ahead/);
        }
        const linear = await verifying(service, { scheme: "linear", secrets: [SECRET] });
        for (const [offset, status] of [
          [0, 200],
          [-301_000, 401],
          [301_000, 401],
        ] as const) {
          const body = JSON.stringify({ webhookTimestamp: NOW + offset });
          assert.equal((await post(linear.url, body, { "linear-signature": hmac("sha256", SECRET, body) })).status, status);
        }
      },

      "Twilio's signature covers URL and fields, or URL and the hash of the body": async (service) => {
        const webhook = await verifying(service, { scheme: "twilio", secrets: [SECRET] });
        const form = "To=%2B1555&From=%2B1666&Body=hi+there";
        const signature = hmac("sha1", SECRET, `${webhook.publicUrl}?x=1BodyhiyhereFrom+1666To+1555`, "base64");
        const right = hmac("sha1", SECRET, `${webhook.publicUrl}?x=1Bodyhi thereFrom+1666To+1555`, "base64");
        const type = { "content-type": "application/x-www-form-urlencoded" };
        refused(await post(`${webhook.url}?x=1`, form, { ...type, "x-twilio-signature": signature }), /does not match this body/);
        taken(await post(`${webhook.url}?x=1`, form, { ...type, "x-twilio-signature": right }));
        const query = `?bodySHA256=${createHash("sha256").update(BODY).digest("hex")}`;
        const ofUrl = hmac("sha1", SECRET, webhook.publicUrl + query, "base64");
        taken(await post(webhook.url + query, BODY, { "x-twilio-signature": ofUrl }));
        refused(await post(webhook.url + query, `${BODY}\n`, { "x-twilio-signature": ofUrl }), /bodySHA256/);
        const bare = hmac("sha1", SECRET, webhook.publicUrl, "base64");
        refused(await post(webhook.url, BODY, { "x-twilio-signature": bare }), /covers the body/);
      },

      "the bytes count: after content decoding, whatever they are, before any parsing or user code": async (service) => {
        const webhook = await verifying(service, { scheme: "github", secrets: [SECRET] });
        const signed = (bytes: Buffer) => ({ "x-hub-signature-256": `sha256=${hmac("sha256", SECRET, bytes)}` });
        const broken = Buffer.from([0xef, 0xbb, 0xbf, 0x00, 0xff, 0xfe, 0x80]);
        taken(await post(webhook.url, broken, { ...signed(broken), "content-type": "application/octet-stream" }));
        const zipped = gzipSync(BODY);
        taken(await post(webhook.url, zipped, { ...signed(Buffer.from(BODY)), "content-encoding": "gzip" }));
        refused(await post(webhook.url, zipped, { ...signed(zipped), "content-encoding": "gzip" }), /does not match this body/);
        refused(await post(webhook.url, "{ not json"), /X-Hub-Signature-256 is missing/);
        assert.equal((await post(webhook.url, "{ not json", signed(Buffer.from("{ not json")))).status, 400);
        refused(await post(webhook.url, BODY, { "x-hub-signature-256": "sha256=zz" }), /character 1 is "z"/);
        const logging = "function transform(evt) { console.log('ran'); return { name: 'a/b', data: evt }; }";
        await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { transform: logging } });
        await post(webhook.url, BODY);
        assert.deepEqual((await requestsOf(service, webhook))[0].logs, []);
      },

      "secrets are written and never read: not in answers, records, the audit log or the store": async (service) => {
        const secrets = ["whsec_c2VjcmV0IG9uZQ==", "short-two"];
        const named = "() => ({ name: 'a/b', data: {} })";
        const webhook = await makeWebhook(service, named, { verify: { scheme: "header", header: "X-Token", secrets } });
        const view = async () => (await service.rest("GET", `/webhooks/${webhook.id}`)).body.data.verify;
        assert.deepEqual(await view(), {
          scheme: "header",
          header: "X-Token",
          toleranceSeconds: 300,
          secrets: [{ last4: "ZQ==" }, { last4: null }],
        });
        const url = webhook.url.replace(PUBLIC_URL, service.url);
        taken(await post(url, {}, { "x-token": "short-two" }));
        assert.equal((await post(url, {}, { "x-token": "a wrong one" })).status, 401);
        const everything = await Promise.all(
          [
            "/webhooks",
            `/webhooks/${webhook.id}`,
            `/webhooks/${webhook.id}/requests`,
            `/webhooks/${webhook.id}/versions`,
            "/audit-log",
          ].map(async (path) => (await service.rest("GET", path)).text),
        );
        for (const text of everything) {
          for (const secret of [...secrets, "a wrong one"]) assert.ok(!text.includes(secret), text);
        }
        const stored = await storedText(service);
        assert.ok(stored.includes(webhook.id));
        for (const secret of secrets) assert.ok(!stored.includes(secret));

        // A change without secrets keeps them, null forgets them.
        const put = (body: object) => service.rest("PUT", `/webhooks/${webhook.id}`, { body });
        assert.equal((await put({ verify: { scheme: "header", header: "X-Other" } })).status, 200);
        assert.deepEqual((await view()).secrets, [{ last4: "ZQ==" }, { last4: null }]);
        taken(await post(url, {}, { "x-other": "short-two" }));
        assert.equal((await put({ verify: null })).status, 200);
        assert.equal(await view(), null);
        taken(await post(url, {}));
        assert.equal((await put({ verify: { scheme: "header", header: "X-Other" } })).status, 400, "there is nothing left to keep");
      },

      "settings that cannot work are refused with the field": async (service) => {
        const wrong: [object, string][] = [
          [{ scheme: "github", secrets: [] }, "verify.secrets"],
          [{ scheme: "github", secrets: ["1", "2", "3", "4", "5"] }, "verify.secrets"],
          [{ scheme: "standard-webhooks", secrets: ["whsec_not base64!"] }, "verify.secrets"],
          [{ scheme: "hmac", secrets: ["s"] }, "verify.header"],
          [{ scheme: "hmac", header: "X", secrets: ["s"], signed: "{body}" }, "verify.signed"],
          [{ scheme: "hmac", header: "X", secrets: ["s"], signed: "{timestamp}.{raw}" }, "verify.signed"],
          [{ scheme: "basic", secrets: ["s"] }, "verify.user"],
          [{ scheme: "github", secrets: ["s"], prefix: "x" }, "verify.prefix"],
          [{ scheme: "md5", secrets: ["s"] }, "verify.scheme"],
          [{ scheme: "github", secrets: ["s"], tolerance: 1 }, "verify.tolerance"],
        ];
        for (const [verify, field] of wrong) {
          const { status, body } = await service.rest("POST", "/webhooks", { body: { name: "w", transform: ECHO, verify } });
          assert.equal(status, 400, JSON.stringify(verify));
          assert.ok(
            body.details.some((fault: { field: string }) => fault.field === field),
            JSON.stringify(body),
          );
        }
        const stripe = await service.rest("POST", "/webhooks", {
          body: { name: "w", transform: ECHO, verify: { scheme: "stripe", secrets: ["whsec_test_secret"] } },
        });
        assert.equal(stripe.status, 201, "Stripe's secrets are no base64");
      },

      "a webhook without its secret records and refuses requests; they can be replayed once the secret is set": async (service) => {
        const sign = SCHEMES.stripe?.headers ?? assert.fail();
        const created = await service.rest("POST", "/webhooks", { body: { name: "w", transform: ECHO, verify: { scheme: "stripe" } } });
        assert.deepEqual([created.status, created.body.data.state, created.body.data.verify.secrets], [201, "waiting_for_secret", []]);
        const { id, url } = created.body.data;
        const refused = await call(service.url + new URL(url).pathname, {
          method: "POST",
          body: BODY,
          headers: { ...JSON_TYPE, ...sign(BODY, SECRET, SECONDS, url) },
        });
        assert.deepEqual([refused.status, refused.body.code], [401, "secret_missing"]);
        const [record] = (await service.rest("GET", `/webhooks/${id}/requests`)).body.data;
        assert.deepEqual([record.outcome, record.status, record.verified, record.body], ["secret_missing", 401, null, BODY]);
        const replay = () => service.rest("POST", `/webhooks/${id}/requests/${record.id}/replay`);
        assert.equal((await replay()).body.code, "secret_missing");
        const put = (verify: object) => service.rest("PUT", `/webhooks/${id}`, { body: { verify } });
        assert.equal((await put({ scheme: "stripe", toleranceSeconds: 600 })).body.data.state, "waiting_for_secret");
        assert.equal((await put({ scheme: "stripe", secrets: [] })).status, 400);
        assert.equal((await put({ scheme: "stripe", secrets: [SECRET] })).body.data.state, "ready");
        assert.equal((await replay()).status, 201);
        const plain = await service.rest("POST", "/webhooks", { body: { name: "p", transform: ECHO } });
        assert.equal(plain.body.data.state, "ready");
      },

      "a URL that was changed since does not keep a signature over it from being replayed": async (service) => {
        const { verify, headers } = SCHEMES.hmac as Signing;
        const webhook = await verifying(service, { ...verify, secrets: [SECRET] });
        taken(await post(webhook.url, BODY, headers(BODY, SECRET, SECONDS, webhook.publicUrl)));
        await service.rest("POST", `/webhooks/${webhook.id}/rotate`);
        const [record] = await requestsOf(service, webhook);
        assert.equal((await service.rest("POST", `/webhooks/${webhook.id}/requests/${record.id}/replay`)).status, 201);
      },

      "an accepted request is answered as the webhook says": async (service) => {
        const twiml = { status: 200, contentType: "text/xml", body: "<Response/>" };
        const webhook = await verifying(service, null as never, { verify: undefined, answer: twiml });
        const answer = await post(webhook.url, {});
        assert.deepEqual([answer.status, answer.text, answer.headers.get("content-type")], [200, "<Response/>", "text/xml; charset=utf-8"]);
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
        await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { answer: { status: 204 } } });
        const empty = await call(webhook.url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
        assert.deepEqual([empty.status, empty.text], [204, ""]);
        assert.deepEqual(
          (await requestsOf(service, webhook)).map(({ status, outcome }: { status: number; outcome: string }) => [status, outcome]),
          [
            [204, "accepted"],
            [200, "accepted"],
          ],
        );
        assert.equal((await post(webhook.url, "not json")).status, 400, "a refusal stays one");
        for (const answer of [{ status: 301 }, { contentType: "text/html" }, { status: 204, body: "x" }, { body: "x".repeat(9_000) }]) {
          assert.equal((await service.rest("PUT", `/webhooks/${webhook.id}`, { body: { answer } })).status, 400, JSON.stringify(answer));
        }
      },
    },
    { now: () => NOW, flags: FLAGS },
  ),
);

test("a replay verifies again, with the age at receipt; masked credentials keep the result", async (t) => {
  let now = NOW;
  const service = await startTestService(t, { now: () => now, flags: FLAGS });
  const slack = await verifying(service, { scheme: "slack", secrets: [SECRET] });
  const { headers } = SCHEMES.slack as Signing;
  await post(slack.url, BODY, headers(BODY, SECRET, SECONDS, ""));
  const replay = async (webhook: TestWebhook, at = 0) => {
    const record = (await requestsOf(service, webhook)).at(at);
    return service.rest("POST", `/webhooks/${webhook.id}/requests/${record.id}/replay`);
  };
  now += 86_400_000;
  assert.equal((await replay(slack)).status, 201);
  now += 86_400_000;
  assert.equal((await replay(slack)).status, 201, "a replay of the replay");
  await service.rest("PUT", `/webhooks/${slack.id}`, { body: { verify: { scheme: "slack", secrets: ["rotated away"] } } });
  assert.equal((await replay(slack)).status, 401);

  const basic = await verifying(service, { scheme: "basic", user: "u", secrets: [SECRET] });
  await post(basic.url, BODY, { authorization: "Basic d3Jvbmc6b25l" });
  await post(basic.url, BODY, { authorization: `Basic ${Buffer.from(`u:${SECRET}`).toString("base64")}` });
  const records = await requestsOf(service, basic);
  assert.deepEqual(
    records.map(({ headers }: { headers: Record<string, string> }) => headers.Authorization),
    ["***", "***"],
  );
  assert.equal((await replay(basic, -1)).status, 401, "it was wrong then");
  assert.equal((await replay(basic, 1)).status, 201, "it was right then");
});
