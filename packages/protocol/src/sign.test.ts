import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { signBody, signingKeyBearers } from "./sign.ts";

// Computed with OpenSSL: printf '%s' '{"a":1}1700000000' | openssl dgst -sha256 -hmac deadbeef
const SIGNATURE = "t=1700000000&s=e836ae5687786d7c585696e48df2dc37e1166008db3701f53b15ff33d3bd5993";
// printf deadbeef | xxd -r -p | openssl dgst -sha256
const HASH = "5f78c33274e43fa9de5659265c1d917e25c03722dcb0b8d27db8d5feaa813953";

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
  assert.deepEqual(signingKeyBearers("signkey-prod-deadbeef"), ["signkey-prod-deadbeef", `signkey-prod-${HASH}`, HASH]);
  assert.deepEqual(signingKeyBearers("deadbeef"), ["deadbeef", HASH]);
});
