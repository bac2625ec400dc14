/**
 * `raw` is exactly what the provider sent: signatures computed over the bytes, by the schemes of Stripe, GitHub and Slack, verify over
 * the `raw` that a transform put into its event, after the whole way through body reading, sandbox and JSON.
 */

import assert from "node:assert/strict";
import { createHmac, timingSafeEqual } from "node:crypto";
import { after, describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { canonicalHeaders } from "@inlet/protocol";
import { readRequestBody } from "./body/request-body.ts";
import { testRunner } from "./threads/run-for-test.ts";

const { runner, event } = testRunner({ limits: { timeoutMs: 10_000 } });
after(() => runner.stop());

const SECRET = "whsec_test_ł";
const TIMESTAMP = "1700000000";

const hmac = (...parts: (string | Buffer)[]) => {
  const mac = createHmac("sha256", SECRET);
  for (const part of parts) mac.update(part);
  return mac.digest("hex");
};

/** How each provider signs a body, and how a function checks it later, from the event alone. */
const schemes = {
  Stripe: {
    sign: (body: Buffer) => ["stripe-signature", `t=${TIMESTAMP},v1=${hmac(`${TIMESTAMP}.`, body)}`],
    verify(signature: string, raw: string) {
      const { t = "", v1 = "" } = Object.fromEntries(signature.split(",").map((part) => part.split("=")));
      return same(v1, hmac(`${t}.${raw}`));
    },
  },
  GitHub: {
    sign: (body: Buffer) => ["X-Hub-Signature-256", `sha256=${hmac(body)}`],
    verify: (signature: string, raw: string) => same(signature, `sha256=${hmac(raw)}`),
  },
  Slack: {
    sign: (body: Buffer) => ["x-slack-signature", `v0=${hmac(`v0:${TIMESTAMP}:`, body)}`],
    verify: (signature: string, raw: string) => same(signature, `v0=${hmac(`v0:${TIMESTAMP}:${raw}`)}`),
  },
};

const same = (a: string, b: string) => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

const bodies: Record<string, [body: string, contentType: string]> = {
  "plain JSON": [`{"id":"evt_1","n":1}`, "application/json"],
  "unicode, escaped and not": [`{"a":"ł😀\\u0142\\ud83d\\ude00\\/\\u2028","b":"\u2028"}`, "application/json"],
  "a lone surrogate, escaped": [`{"a":"\\ud800"}`, "application/json"],
  "CRLF and trailing whitespace": [`{\r\n\t"a" : 1\r\n}\r\n \t\n`, "application/json; charset=utf-8"],
  "numbers no double can hold": [`{"id":12345678901234567890123,"x":1.10,"y":1e400,"z":-0,"w":1E+2}`, "application/json"],
  "duplicate keys": [`{"a":1,"a":2,"__proto__":{"b":1}}`, "application/json"],
  "a byte order mark": [`\uFEFF{"a":1}`, "application/json"],
  "a NUL and other control characters, escaped": [`{"a":"\\u0000\\u001f\u007f"}`, "application/json"],
  "a form": ["payload=%7B%22a%22%3A1%7D&text=a+b%20c&empty=&text=%F0%9F%98%80", "application/x-www-form-urlencoded"],
  XML: [`<?xml version="1.0"?>\r\n<a b='c'>ł</a>\n`, "application/xml"],
  "text with a NUL in it": ["a\u0000b", "text/plain"],
};

const SOURCE = `function transform(evt, headers = {}, queryParams = {}, raw = "") {
  const signature = headers["Stripe-Signature"] ?? headers["X-Hub-Signature-256"] ?? headers["X-Slack-Signature"];
  return { name: "provider/event", data: { signature, raw } };
}`;

for (const [provider, { sign, verify }] of Object.entries(schemes)) {
  describe(`${provider}'s signature verifies over`, () => {
    for (const [what, [text, contentType]] of Object.entries(bodies)) {
      for (const contentEncoding of [undefined, "gzip"]) {
        it(`${what}${contentEncoding ? `, sent as ${contentEncoding}` : ""}`, async () => {
          const sent = Buffer.from(text);
          const bytes = contentEncoding ? gzipSync(sent) : sent;
          const result = await readRequestBody({ bytes, contentType, contentEncoding, bytesMax: 524_288 });
          assert.ok(result.ok);
          const { data } = await event(SOURCE, { ...result.body, headers: canonicalHeaders(sign(sent)) });
          const { signature, raw } = data as { signature: string; raw: string };
          assert.equal(raw, text);
          assert.ok(verify(signature, raw));
          assert.equal(verify(signature, `${raw} `), false);
        });
      }
    }
  });
}
