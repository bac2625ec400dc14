import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import test from "node:test";
import { bearerToken, signBody, verifySignature } from "./signing.ts";

const KEY = `signkey-prod-${"0a".repeat(32)}`;
const PREVIOUS = `signkey-prod-${"0b".repeat(32)}`;
const body = new TextEncoder().encode('{"größe":1}');
const NOW = 1_700_000_000_000;

test("a signature is HMAC-SHA256 over the body and the time, with the key's text after its prefix", async () => {
  const expected = createHmac("sha256", "0a".repeat(32)).update(body).update("1700000000").digest("hex");
  assert.equal(await signBody(body, KEY, NOW), `t=1700000000&s=${expected}`);
  assert.equal(await signBody(body, "0a".repeat(32), NOW), `t=1700000000&s=${expected}`);
});

test("the current and the previous key are accepted, within five minutes either way", async () => {
  for (const key of [KEY, PREVIOUS]) {
    const header = await signBody(body, key, NOW);
    for (const nowMs of [NOW, NOW + 299_000, NOW - 299_000]) {
      assert.deepEqual(await verifySignature(header, body, [KEY, PREVIOUS], nowMs), { ok: true });
    }
    for (const nowMs of [NOW + 301_000, NOW - 301_000]) {
      assert.match(reason(await verifySignature(header, body, [KEY, PREVIOUS], nowMs)), /five minutes/);
    }
  }
});

test("another key, another body, another time and no signature are refused with the reason", async () => {
  const header = await signBody(body, KEY, NOW);
  const other = await signBody(body, `signkey-prod-${"0c".repeat(32)}`, NOW);
  assert.match(reason(await verifySignature(other, body, [KEY, PREVIOUS], NOW)), /another key/);
  assert.match(reason(await verifySignature(header, body.slice(1), [KEY], NOW)), /body was changed/);
  assert.match(reason(await verifySignature(header.replace("t=1700000000", "t=1700000001"), body, [KEY], NOW)), /another key/);
  assert.match(reason(await verifySignature(null, body, [KEY], NOW)), /not signed/);
  for (const bad of ["s=00", "t=1&s=zz", `${header}&x=1`, "t=1700000000&s=00"]) {
    assert.match(reason(await verifySignature(bad, body, [KEY], NOW)), /malformed/);
  }
});

test("the bearer token is the hash of the decoded key, with its prefix", async () => {
  const hash = createHash("sha256")
    .update(Buffer.from("0a".repeat(32), "hex"))
    .digest("hex");
  assert.equal(await bearerToken(KEY), `signkey-prod-${hash}`);
  assert.equal(await bearerToken("0a".repeat(32)), hash);
  await assert.rejects(bearerToken("signkey-prod-secret"), /INLET_SIGNING_KEY is not a signing key/);
});

function reason(verified: Awaited<ReturnType<typeof verifySignature>>): string {
  return verified.ok ? assert.fail("was accepted") : verified.reason;
}
