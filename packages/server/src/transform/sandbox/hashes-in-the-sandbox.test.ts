/** `hmac` and `sha256` inside the sandbox give what Node gives, for any text and any bytes, and cannot be led astray by user code. */

import assert from "node:assert/strict";
import { createHash, createHmac, randomBytes, randomInt } from "node:crypto";
import { test } from "node:test";
import { createTransformRunner } from "../threads/transform-runner.ts";

const runner = createTransformRunner({ limits: { timeoutMs: 10_000 } });
test.after(() => runner.stop());

async function run(source: string, evt: unknown = {}) {
  const outcome = await runner.run({ versionKey: source, source, evtJson: JSON.stringify(evt), headers: {}, queryParams: {}, raw: "" });
  return outcome.ok ? JSON.parse(outcome.eventJson) : outcome;
}

const ALGORITHMS = ["sha1", "sha256", "sha512"];
const HASH_ALL = `function transform({ cases }) {
  return { of: cases.map(({ secret, text }) => [
    ...["sha1", "sha256", "sha512"].flatMap((a) => ["hex", "base64"].map((e) => hmac(a, secret, text, e))),
    sha256(text, "hex"), sha256(text, "base64"), sha256(text)]) };
}`;
const HASH_BYTES = `function transform({ cases }) {
  return { of: cases.map(({ secret, text }) => [hmac("sha256", new Uint8Array(secret), new Uint8Array(text).buffer), sha256(new Uint8Array([9, ...text]).subarray(1))]) };
}`;

test("texts are hashed as their UTF-8", async () => {
  const texts = ["", "a", "\u0000\u0001\u007f", "\u00e9\u4e16\ud83d\ude00", "\ud800 alone \udc00", "x".repeat(70_000), "\ufeffbom"];
  const cases = texts.flatMap((text) => ["k", "\u00fc".repeat(200)].map((secret) => ({ secret, text })));
  const expected = cases.map(({ secret, text }) => [
    ...ALGORITHMS.flatMap((a) => (["hex", "base64"] as const).map((e) => createHmac(a, secret).update(text).digest(e))),
    ...(["hex", "base64", "hex"] as const).map((e) => createHash("sha256").update(text).digest(e)),
  ]);
  assert.deepEqual(await run(HASH_ALL, { cases }), { of: expected });
});

test("bytes of any value and length are hashed as they are", async () => {
  const cases = Array.from({ length: 50 }, () => ({
    secret: [...randomBytes(randomInt(1, 200))],
    text: [...randomBytes(randomInt(0, 300))],
  }));
  const expected = cases.map(({ secret, text }) => [
    createHmac("sha256", Buffer.from(secret)).update(Buffer.from(text)).digest("hex"),
    createHash("sha256").update(Buffer.from(text)).digest("hex"),
  ]);
  assert.deepEqual(await run(HASH_BYTES, { cases }), { of: expected });
});

test("anything else is an error of the code that asked", async () => {
  for (const call of ["hmac('md5', 'k', 't')", "hmac('sha256', 1, 't')", "sha256({})", "sha256('t', 'binary')", "sha256()"]) {
    const outcome = await run(`function transform() { return { v: ${call} }; }`);
    assert.equal(outcome.code, "transform_failed", call);
    assert.match(outcome.message, /TypeError/);
  }
});

test("patched built-ins change nothing, and names of one's own are allowed", async () => {
  const patched = `String.prototype.toWellFormed = () => "evil"; Reflect.apply = () => "evil"; Uint8Array = null;
    function transform() { return { v: sha256("t") }; }`;
  assert.deepEqual(await run(patched), { v: createHash("sha256").update("t").digest("hex") });
  assert.deepEqual(
    await run("const sha256 = () => 'mine'; function hmac() { return 'own'; } function transform() { return { v: sha256() + hmac() }; }"),
    {
      v: "mineown",
    },
  );
});
