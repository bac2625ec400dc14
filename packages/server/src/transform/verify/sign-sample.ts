/**
 * Signs a sample request so that it can be sent now: a request of a provider's documentation, or one that was recorded. The signature
 * it carries is taken off, the times that are signed are set, and all else stays as it is. Signing twice at the same time yields the
 * same request.
 */

import { createHash } from "node:crypto";
import { canonicalName, type WebhookVerify } from "@inlet/protocol";
import { contentKind } from "../body/content-kind.ts";
import { signRequest } from "./sign-request.ts";
import { headersRead } from "./verify-request.ts";

export interface SampleRequest {
  /** By canonical name. */
  headers: Readonly<Record<string, string>>;
  query: string;
  bytes: Buffer;
}

export interface SignSampleParams extends SampleRequest {
  verify: WebhookVerify;
  secret: string;
  at: number;
  /** The URL that the provider would sign, with this query. */
  urlOf(query: string): string;
}

export function signSample({ verify, secret, at, urlOf, ...sample }: SignSampleParams): SampleRequest {
  const bytes = verify.scheme === "linear" ? withTime(sample.bytes, at) : sample.bytes;
  const headers = withMessageId(withoutSignature(sample.headers, verify), verify, bytes);
  const contentType = headers["Content-Type"];
  const query = verify.scheme === "twilio" ? withBodyHash(sample.query, bytes, contentType) : sample.query;
  const signature = signRequest({ verify, secret, at, bytes, headers, contentType, urls: [urlOf(query)] });
  return { headers: { ...headers, ...signature }, query, bytes };
}

/** The headers without those of the signature, which is none with another secret. The time stays: its format is the provider's. */
export function withoutSignature(headers: Readonly<Record<string, string>>, verify: WebhookVerify): Record<string, string> {
  const kept = verify.timestampHeader === undefined ? null : canonicalName(verify.timestampHeader);
  const signed = headersRead(verify).filter((name) => name !== kept && name !== "Webhook-Id" && name !== "Svix-Id");
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !signed.includes(name)));
}

/** Standard Webhooks sign the id of the message, which a provider keeps when it sends again. */
function withMessageId(headers: Record<string, string>, { scheme }: WebhookVerify, bytes: Buffer): Record<string, string> {
  if (scheme !== "standard-webhooks" || headers["Webhook-Id"] !== undefined) return headers;
  const id = headers["Svix-Id"] ?? `msg_${createHash("sha256").update(bytes).digest("hex").slice(0, 24)}`;
  return { ...headers, "Webhook-Id": id };
}

/** Linear sends the time in the body. */
function withTime(bytes: Buffer, at: number): Buffer {
  return Buffer.from(bytes.toString().replace(/("webhookTimestamp"\s*:\s*)\d+/, `$1${Math.floor(at)}`));
}

/** Twilio signs the hash of a body that is no form, as a part of the URL. */
function withBodyHash(query: string, bytes: Buffer, contentType: string | undefined): string {
  const rest = query.split("&").filter((pair) => pair !== "" && !pair.startsWith("bodySHA256="));
  if (contentKind(contentType).kind === "urlencoded" || bytes.length === 0) return rest.join("&");
  return [...rest, `bodySHA256=${createHash("sha256").update(bytes).digest("hex")}`].join("&");
}
