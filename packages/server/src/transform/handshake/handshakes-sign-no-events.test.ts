/** For every preset and every scheme: what verification accepts, a handshake does not sign. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { HandshakePreset, WebhookVerify } from "@inlet/protocol";
import { authenticateRequest } from "../authenticate-request.ts";
import type { TransformRunner } from "../threads/transform-runner.ts";
import { CLAIMS } from "../verify/schemes.ts";
import { signRequest } from "../verify/sign-request.ts";
import { PRESETS } from "./presets.ts";

const SECRET = "a-secret-of-the-webhook";
const AT = 1_700_000_000_000;
const SCHEMES: Omit<WebhookVerify, "toleranceSeconds">[] = [
  ...(["standard-webhooks", "stripe", "github", "shopify", "slack", "twilio", "linear"] as const).map((scheme) => ({ scheme })),
  ...(["{raw}", "{raw}{header:X-More}", "v0:{timestamp}:{raw}", "{url}{raw}"].flatMap((signed) =>
    (["hex", "base64"] as const).map((encoding) => ({
      ...({ scheme: "hmac", header: "X-Signature", prefix: "", algorithm: "sha256", encoding, signed } as const),
      ...(signed.includes("{timestamp}") && { timestampHeader: "X-Time" }),
    })),
  ) satisfies Omit<WebhookVerify, "toleranceSeconds">[]),
];
const BODIES = [
  "",
  "1",
  "true",
  "abc",
  "a=b",
  "QUJD",
  `${"a".repeat(200)}`,
  '{"event":"x"}',
  `{"webhookTimestamp":${AT}}`,
  "v0:1:{}",
  " 1",
  '"a"',
];

function handshakeResponse(preset: HandshakePreset, challenge: string): string {
  const asks = [
    { method: "GET", queryParams: { crc_token: [challenge], challenge: [challenge], validationToken: [challenge] }, raw: "" },
    { method: "POST", queryParams: {}, raw: JSON.stringify({ event: "endpoint.url_validation", payload: { plainToken: challenge } }) },
  ];
  return asks.map((ask) => JSON.stringify(PRESETS[preset]({ ...ask, headers: {}, secrets: [SECRET] })?.answer ?? null)).join();
}

test("no handshake signs what verification accepts", async () => {
  let accepted = 0;
  for (const preset of Object.keys(PRESETS) as HandshakePreset[]) {
    for (const scheme of SCHEMES) {
      for (const body of BODIES) {
        const verify: WebhookVerify = { ...scheme, toleranceSeconds: 300 };
        const bytes = Buffer.from(body);
        const contentType = verify.scheme === "twilio" ? "application/x-www-form-urlencoded" : "application/json";
        const request = { bytes, headers: { "X-More": "c" }, contentType, urls: ["https://example.com/e/t"] };
        const headers = { ...request.headers, ...signRequest({ ...request, verify, secret: SECRET, at: AT }) };
        const secrets = { verify: [SECRET], handshake: null, isHandedOver: false };
        const params = {
          ...request,
          headers,
          rules: { verify, handshake: { preset }, secrets },
          method: "POST",
          query: "",
          bytesMax: 10_000,
        };
        const authentication = await authenticateRequest({} as TransformRunner, {
          ...params,
          contentEncoding: undefined,
          receipt: { at: AT, wasVerified: null },
        });
        if (!authentication.isVerified) continue;
        accepted++;
        const claim = CLAIMS[verify.scheme as keyof typeof CLAIMS]({ ...request, headers }, verify);
        if ("reason" in claim) throw new Error(claim.reason);
        for (const parts of claim.signed) {
          const answer = handshakeResponse(preset, Buffer.concat(parts.map((part) => Buffer.from(part))).toString());
          for (const signature of claim.signatures)
            for (const form of ["hex", "base64"] as const)
              assert.ok(!answer.includes(signature.toString(form)), `${preset} signs a body of ${verify.scheme}: ${body}`);
        }
      }
    }
  }
  assert.ok(accepted > 100, `only ${accepted} requests were accepted`);
});
