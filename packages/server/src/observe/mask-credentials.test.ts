import assert from "node:assert/strict";
import { test } from "node:test";
import { Refusal, type WebhookVerify } from "@inlet/protocol";
import { maskingFor, maskRefusal } from "./mask-credentials.ts";

const SECRET = 'super"secret/1234';

function masking(verify: Omit<WebhookVerify, "toleranceSeconds">, secret: string, rawHeaders: string[] = []) {
  const secrets = { verify: [secret], handshake: null, isHandedOver: false, reconcile: [] };
  return maskingFor({ webhook: { verify: { ...verify, toleranceSeconds: 300 }, handshake: null, secrets }, rawHeaders }, new Set());
}

test("a secret is masked in texts in every form that code can write", () => {
  const { text } = masking({ scheme: "header", header: "X-Token" }, SECRET);
  const bytes = Buffer.from(SECRET);
  const forms = [SECRET, JSON.stringify(SECRET), JSON.stringify(JSON.stringify({ p: SECRET })), encodeURIComponent(SECRET)];
  const encoded = (["hex", "base64", "base64url"] as const).map((encoding) => bytes.toString(encoding));
  for (const form of [...forms, ...encoded, bytes.toString("hex").toUpperCase()]) {
    const shown = text(`auth ${form} sent`);
    assert.match(shown, /^auth \W*(?:p\W*)?\*\*\*\W* sent$/, form);
  }
});

test("credentials of basic are masked with their user, and as they were received", () => {
  const encoded = Buffer.from(`u:${SECRET}`).toString("base64");
  const received = encoded.replace(/(.)==$/, (_, last: string) => `${String.fromCharCode(last.charCodeAt(0) + 1)}==`);
  assert.notEqual(received, encoded);
  assert.equal(Buffer.from(received, "base64").toString(), `u:${SECRET}`, "other text, the same bytes");
  const { text } = masking({ scheme: "basic", user: "u" }, SECRET, ["authorization", `Basic ${received}`]);
  assert.equal(text(`got Basic ${received}`), "got Basic ***");
  assert.equal(text(`got ${encoded.replace(/=+$/, "")}.`), "got ***.");
});

test("a header's value is masked as it was received, which is not the text of a secret with other letters", () => {
  const received = Buffer.from("p\u00e4ssword").toString("latin1");
  const { text } = masking({ scheme: "header", header: "X-Token" }, "p\u00e4ssword", ["X-Token", received]);
  assert.equal(text(`${received} p\u00e4ssword`), "*** ***");
});

test("secrets of four characters are masked in texts; shorter ones only in the header that contains them", () => {
  assert.equal(masking({ scheme: "header", header: "X-Token" }, "abcd").text("auth abcd"), "auth ***");
  const short = masking({ scheme: "header", header: "X-Token" }, "a", ["x-token", "a"]);
  assert.deepEqual([short.text("a cat sat"), short.headers()], ["a cat sat", ["x-token", "***"]]);
  const basic = masking({ scheme: "basic", user: "u" }, "a", ["Authorization", "Basic dTph"]);
  assert.equal(basic.text("a Basic dTph"), "a Basic ***");
});

test("a refusal is masked in its message and its details", () => {
  const refused = new Refusal("transform_invalid_event", `Wrong: ${SECRET}`, [{ index: 0, field: "name", message: `is ${SECRET}` }], 3);
  const shown = maskRefusal(refused, masking({ scheme: "header", header: "X-Token" }, SECRET));
  assert.deepEqual(shown, new Refusal("transform_invalid_event", "Wrong: ***", [{ index: 0, field: "name", message: "is ***" }], 3));
});
