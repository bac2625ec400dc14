import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { isPlaceholderKey } from "./key-texts.ts";
import { isSignatureOf, isSigningKey, signBody, signingKeyBearers } from "./sign.ts";

// Computed with OpenSSL: printf '%s' '{"a":1}1700000000' | openssl dgst -sha256 -hmac deadbeef
const SIGNATURE = "t=1700000000&s=e836ae5687786d7c585696e48df2dc37e1166008db3701f53b15ff33d3bd5993";
const KEY = "deadbeef".repeat(4);
// printf deadbeefdeadbeefdeadbeefdeadbeef | xxd -r -p | openssl dgst -sha256
const HASH = "fd1679fab79576a8f134ea26bd23797d080dff39bd6297e005dc45c62b71c8f6";

test("a body is signed with the characters of the key behind its prefix", () => {
  for (const key of ["signkey-prod-deadbeef", "signkey-test-deadbeef", "signkey-branch_x-deadbeef", "deadbeef"]) {
    assert.equal(signBody('{"a":1}', key, 1_700_000_000), SIGNATURE, key);
  }
  assert.notEqual(signBody('{"a":1}', "signkey-prod-deadbeee", 1_700_000_000), SIGNATURE);
  assert.notEqual(signBody('{"a":1}', "deadbeef", 1_700_000_001).slice(13), SIGNATURE.slice(13));
});

test("a signature is the HMAC of the UTF-8 of body and time, whatever the length of key and body", () => {
  for (const length of [0, 1, 63, 64, 65, 130, 1_000]) {
    const [key, body] = ["é0".repeat(length).slice(0, length), "é😀z".repeat(length)];
    const expected = createHmac("sha256", key).update(body).update("1700000000").digest("hex");
    assert.equal(signBody(body, key, 1_700_000_000), `t=1700000000&s=${expected}`, `${length}`);
  }
});

test("a key is shown by itself, or by its hash with and without the prefix", () => {
  assert.deepEqual(signingKeyBearers(`signkey-prod-${KEY}`), [`signkey-prod-${KEY}`, `signkey-prod-${HASH}`, HASH]);
  assert.deepEqual(signingKeyBearers(KEY), [KEY, HASH]);
});

test("a text that is not whole hexadecimal of 128 bits is no signing key, and no bearer stands for it", () => {
  for (const text of [
    "",
    "secret",
    "my-signing-key",
    `${KEY}0`,
    `${KEY}zz`,
    `signkey-prod-${KEY}zz`,
    KEY.slice(2),
    `signkey--${KEY}`,
    ` ${KEY}`,
  ]) {
    assert.ok(!isSigningKey(text), text);
    assert.deepEqual(signingKeyBearers(text), [], text);
  }
  for (const text of [KEY, KEY.toUpperCase(), `signkey-branch_x-${KEY}${KEY}`]) assert.ok(isSigningKey(text), text);
});

test("texts that stand in examples where a key belongs are known", () => {
  for (const text of [
    "replace-me",
    "evk_replace-me-with-32-random-characters",
    "ChangeMe",
    "YOUR_API_KEY",
    "<key>",
    "signkey-prod-…",
    "xxxxxxxx",
  ])
    assert.ok(isPlaceholderKey(text), text);
  for (const text of ["mine", "test-event-key", "evk_5c1d02", KEY]) assert.ok(!isPlaceholderKey(text), text);
});

test("a signature is recognised, also where a line end was written behind what was signed", () => {
  const key = `signkey-test-${"ab".repeat(32)}`;
  const header = signBody('{"a":1}', key, 1_700_000_000);
  assert.deepEqual(
    ['{"a":1}', '{"a":1}\n', '{"a":2}'].map((body) => isSignatureOf(header, body, key)),
    [true, true, false],
  );
  assert.equal(isSignatureOf(header, '{"a":1}', "cd".repeat(32)), false);
  assert.equal(isSignatureOf("t=1&s=", '{"a":1}', key), false);
});
