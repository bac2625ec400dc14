import assert from "node:assert/strict";
import { test } from "node:test";
import { type GatewayRequest, shownUrl } from "./gateway-request.ts";
import { secretsOf, withoutSecrets } from "./request-secrets.ts";

const secrets = (request: Partial<GatewayRequest>) => secretsOf({ url: "https://api.example/", headers: {}, body: null, ...request });

test("secrets are in headers with such names, the query and the credentials of the URL", () => {
  assert.deepEqual(secrets({ headers: { accept: "application/json", "x-api-key": "k" } }), ["k"]);
  assert.deepEqual(secrets({ headers: { authorization: "Bearer sk-4711-0815" } }), ["Bearer sk-4711-0815", "sk-4711-0815"]);
  assert.deepEqual(secrets({ headers: { cookie: "a=1; session=0123456789" } }), ["a=1; session=0123456789", "0123456789"]);
  assert.deepEqual(secrets({ url: "https://sk_live:p%40ss@api.example/?key=q%20q&empty=" }), ["q q", "sk_live", "p%40ss", "p@ss"]);
  assert.equal(shownUrl("https://sk_live:p%40ss@api.example/v1?key=q#f"), "https://api.example/v1?key=***#f");
});

test("secrets are in fields of a body with such names, at any depth, in JSON and forms", () => {
  const body = {
    model: "gpt",
    apiKey: "sk-1",
    login: { user: "jane", password: "hunter2", tokens: ["tok-1", { a: "tok-2" }] },
    pin: "1234",
    key: "abc",
  };
  assert.deepEqual(secrets({ body: JSON.stringify(body) }).sort(), ["hunter2", "sk-1", "tok-1", "tok-2"]);
  assert.deepEqual(secrets({ body: "grant_type=password&client_secret=s%26cret&password=hunter2" }), ["s&cret", "hunter2"]);
  assert.deepEqual(secrets({ body: '{"password": broken' }), []);
  assert.deepEqual(secrets({ body: "[".repeat(100_000) + "]".repeat(100_000) }), []);
});

test("they are masked however they are written, the longest whole", () => {
  const secret = 'a"b c/d';
  const text = [secret, JSON.stringify(secret), JSON.stringify(JSON.stringify(secret)), encodeURIComponent(secret), "a%22b+c%2Fd"].join(
    "|",
  );
  assert.equal(withoutSecrets(text, [secret]), '***|"***"|"\\"***\\""|***|***');
  assert.equal(withoutSecrets("key-1-and-more key-1", ["key-1", "key-1-and-more"]), "*** ***");
  assert.equal(withoutSecrets("abcdef", ["abcd", "cdef"]), "***");
});

test("a text is cut after it was masked: no part of a secret is left at the edge, or comes into sight", () => {
  const secret = "s3cret-of-somebody";
  for (let before = 70; before <= 110; before++) {
    const shown = withoutSecrets(`${"x".repeat(before)}${secret}${"y".repeat(200)}`, [secret], 100);
    assert.ok(!shown.includes("s3") && shown.length <= 103, `${before}: ${shown}`);
  }
  const many = withoutSecrets(secret.repeat(50), [secret], 100);
  assert.equal(many, "***");
  assert.equal(withoutSecrets(`${"x".repeat(99)}\u{1f600}`, [], 100), `${"x".repeat(99)}\ufffd`);
  assert.equal(withoutSecrets("short", ["secret"], 100), "short");
});
