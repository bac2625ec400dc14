/** Signs a request as its provider would: for tests of a webhook, and for the sample requests of providers. */

import { createHmac, randomUUID } from "node:crypto";
import { canonicalName, type WebhookVerify } from "@inlet/protocol";
import { DIGEST_BYTES, type Encoding } from "./read-signatures.ts";
import { CLAIMS } from "./schemes.ts";
import { type Algorithm, headerOf, isFault, type SignedRequest } from "./signed-request.ts";
import { keysOf } from "./verify-request.ts";

export interface SignParams extends SignedRequest {
  verify: WebhookVerify;
  secret: string;
  at: number;
}

/** Where a scheme's signature is placed, and the text around it. */
interface SignatureForm {
  header: string;
  algorithm: Algorithm;
  encoding: Encoding;
  before: string;
  /** Headers that are sent with it and signed. */
  beside: Record<string, string>;
}

/** The headers to send with the request, by canonical name. Headers that a template names must already be present. */
export function signRequest(params: SignParams): Record<string, string> {
  const { verify, secret } = params;
  if (verify.scheme === "basic") return { Authorization: `Basic ${Buffer.from(`${verify.user ?? ""}:${secret}`).toString("base64")}` };
  if (verify.scheme === "header") return { [canonicalName(verify.header ?? "")]: secret };
  const { header, algorithm, encoding, before, beside } = formOf(params);
  const name = canonicalName(header);
  const blank = before + Buffer.alloc(DIGEST_BYTES[algorithm]).toString(encoding);
  // The input to sign is the one that verification would check.
  const claim = CLAIMS[verify.scheme]({ ...params, headers: { ...params.headers, ...beside, [name]: blank } }, verify);
  if (isFault(claim)) throw new Error(`the request cannot be signed: ${claim.reason}`);
  const hmac = createHmac(algorithm, keysOf(verify, secret)[0] as Buffer);
  for (const part of claim.signed[0] ?? []) hmac.update(part);
  return { ...beside, [name]: before + hmac.digest(encoding) };
}

function formOf({ verify, at, headers }: SignParams): SignatureForm {
  const seconds = String(Math.floor(at / 1_000));
  const hex = { algorithm: "sha256", encoding: "hex", beside: {} } as const;
  switch (verify.scheme) {
    case "standard-webhooks": {
      const id = headerOf({ headers }, "webhook-id") ?? `msg_${randomUUID()}`;
      const beside = { "Webhook-Id": id, "Webhook-Timestamp": seconds };
      return { header: "Webhook-Signature", algorithm: "sha256", encoding: "base64", before: "v1,", beside };
    }
    case "stripe":
      return { ...hex, header: verify.header ?? "Stripe-Signature", before: `t=${seconds},v1=` };
    case "github":
      return { ...hex, header: "X-Hub-Signature-256", before: "sha256=" };
    case "shopify":
      return { header: "X-Shopify-Hmac-Sha256", algorithm: "sha256", encoding: "base64", before: "", beside: {} };
    case "slack":
      return { ...hex, header: "X-Slack-Signature", before: "v0=", beside: { "X-Slack-Request-Timestamp": seconds } };
    case "twilio":
      return { header: "X-Twilio-Signature", algorithm: "sha1", encoding: "base64", before: "", beside: {} };
    case "linear":
      return { ...hex, header: "Linear-Signature", before: "" };
    default:
      return hmacForm(verify, headers, seconds);
  }
}

/** A time in the sample is kept if it is recent enough; the provider's format cannot be known. */
function hmacForm(verify: WebhookVerify, headers: SignParams["headers"], seconds: string): SignatureForm {
  const { header = "", prefix = "", encoding = "hex", algorithm = "sha256", timestampHeader } = verify;
  const sent = timestampHeader === undefined ? undefined : headerOf({ headers }, timestampHeader);
  const iso = sent !== undefined && /^\d{4}-/.test(sent);
  const millis = sent !== undefined && /^\d{13}$/.test(sent);
  const time = iso ? new Date(Number(seconds) * 1_000).toISOString() : seconds + (millis ? "000" : "");
  const beside: Record<string, string> = timestampHeader === undefined ? {} : { [canonicalName(timestampHeader)]: time };
  return { header, algorithm, encoding, before: prefix, beside };
}
