/**
 * Verifies that a request was signed with one of the webhook's secrets, and recently. Every comparison takes constant time. Nothing of
 * the body is parsed before its signature has been verified.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { canonicalName, type VerifyScheme, type WebhookVerify } from "@inlet/protocol";
import { explainMismatch } from "./explain-mismatch.ts";
import { isBase64 } from "./read-signatures.ts";
import { CLAIMS } from "./schemes.ts";
import { timeFault } from "./sent-times.ts";
import {
  type Claim,
  type ClaimFault,
  headerBytes,
  headerOf,
  isFault,
  missing,
  type SignedParts,
  type SignedRequest,
} from "./signed-request.ts";
import { parseTemplate } from "./signed-template.ts";

export interface VerifyParams extends SignedRequest {
  verify: WebhookVerify;
  secrets: readonly string[];
  /** When it was received. */
  at: number;
  /** For tests by a person: report which byte is wrong, if that can be determined. */
  explains?: boolean;
  /** Texts that are signed for anyone who asks, by the handshake: a signature of one proves nothing. */
  isChallenge?: (text: string) => boolean;
}

export type Verification = { ok: true } | ({ ok: false } & VerifyFault);

export interface VerifyFault extends ClaimFault {
  /** In the body, counted from 1. */
  byte?: number;
}

const SECRET_PREFIX = "whsec_";

export function verifyRequest(params: VerifyParams): Verification {
  const { verify } = params;
  const fault = verify.scheme === "basic" || verify.scheme === "header" ? credentialFault(params) : signatureFault(params);
  return fault ? { ok: false, ...fault } : { ok: true };
}

/** The headers that are or contain the secret itself. */
export function credentialHeader({ scheme, header }: WebhookVerify): string | null {
  if (scheme === "basic") return "Authorization";
  return scheme === "header" ? (header ?? null) : null;
}

/** The headers that verification reads, by canonical name: if one is masked, a recorded request cannot be verified again. */
export function headersRead(verify: WebhookVerify): string[] {
  const { scheme, header = "", timestampHeader, signed = "" } = verify;
  if (scheme === "hmac") {
    const signedHeaders = parseTemplate(signed).flatMap((part) => ("header" in part ? [part.header] : []));
    return [header, ...(timestampHeader === undefined ? [] : [timestampHeader]), ...signedHeaders].map(canonicalName);
  }
  return (FIXED_HEADERS[scheme] ?? [credentialHeader(verify) ?? verify.header ?? "Stripe-Signature"]).map(canonicalName);
}

const FIXED_HEADERS: Partial<Record<VerifyScheme, readonly string[]>> = {
  "standard-webhooks": ["Webhook", "Svix"].flatMap((family) => [`${family}-Id`, `${family}-Timestamp`, `${family}-Signature`]),
  github: ["X-Hub-Signature-256"],
  shopify: ["X-Shopify-Hmac-Sha256"],
  slack: ["X-Slack-Signature", "X-Slack-Request-Timestamp"],
  twilio: ["X-Twilio-Signature"],
  linear: ["Linear-Signature"],
};

/** Why a secret is invalid for a scheme; null if it is valid. */
export function secretFault({ scheme }: Pick<WebhookVerify, "scheme">, secret: string): string | null {
  if (scheme !== "standard-webhooks" || !secret.startsWith(SECRET_PREFIX)) return null;
  return isBase64(secret.slice(SECRET_PREFIX.length)) ? null : `begins with ${SECRET_PREFIX} but is not base64 after it`;
}

function signatureFault(params: VerifyParams): VerifyFault | null {
  const { verify, secrets, at } = params;
  const claim = CLAIMS[verify.scheme as keyof typeof CLAIMS](params, verify);
  if (isFault(claim)) return claim;
  if (params.isChallenge && claim.signed.some((parts) => params.isChallenge?.(textOf(parts))))
    return { reason: "The signed text is one that the handshake signs for anyone; it proves nothing.", header: claim.header };
  const keys = secrets.flatMap((secret) => keysOf(verify, secret));
  if (!matches(claim, keys)) return mismatch(params, claim, keys);
  const sentAt = claim.sentAt();
  return sentAt && timeFault(sentAt, at, verify.toleranceSeconds);
}

function textOf(parts: SignedParts): string {
  return Buffer.concat(parts.map((part) => Buffer.from(part))).toString("latin1");
}

function mismatch({ bytes, explains }: VerifyParams, claim: Claim, keys: readonly Buffer[]): VerifyFault {
  const { header } = claim;
  const found = explains ? explainMismatch(bytes, (body) => matches(withBody(claim, bytes, body), keys)) : null;
  const reason = `The signature in the header ${header} does not match this body with any of the webhook's secrets.`;
  return found ? { reason: `${reason} ${found.reason}`, header, byte: found.byte } : { reason, header };
}

function withBody(claim: Claim, bytes: Buffer, body: Buffer): Claim {
  return { ...claim, signed: claim.signed.map((parts) => parts.map((part) => (part === bytes ? body : part))) };
}

/** Every signature is compared with every secret, even after a match. */
function matches({ signatures, algorithm, signed }: Claim, keys: readonly Buffer[]): boolean {
  let isFound = false;
  for (const key of keys) {
    for (const parts of signed) {
      const hmac = createHmac(algorithm, key);
      for (const part of parts) hmac.update(part);
      const expected = hmac.digest();
      for (const signature of signatures) isFound = timingSafeEqual(signature, expected) || isFound;
    }
  }
  return isFound;
}

/** Secrets of Standard Webhooks are base64, with or without a prefix; one without may also be used literally. */
export function keysOf({ scheme }: Pick<WebhookVerify, "scheme">, secret: string): Buffer[] {
  if (scheme !== "standard-webhooks") return [Buffer.from(secret)];
  if (secret.startsWith(SECRET_PREFIX)) return [Buffer.from(secret.slice(SECRET_PREFIX.length), "base64")];
  return isBase64(secret) ? [Buffer.from(secret, "base64"), Buffer.from(secret)] : [Buffer.from(secret)];
}

function credentialFault(params: VerifyParams): VerifyFault | null {
  const { verify, secrets } = params;
  const header = credentialHeader(verify) ?? "";
  const value = headerOf(params, header);
  if (value === undefined) return missing(header);
  const given = verify.scheme === "basic" ? basicCredentials(value) : headerBytes(value);
  if (given === null) return { reason: `The header ${header} is not "Basic" followed by base64.`, header, character: 1 };
  const prefix = verify.scheme === "basic" ? `${verify.user ?? ""}:` : "";
  let isFound = false;
  for (const secret of secrets) isFound = equalTexts(given, Buffer.from(prefix + secret)) || isFound;
  return isFound ? null : { reason: `The credentials in the header ${header} are wrong.`, header };
}

function basicCredentials(value: string): Buffer | null {
  const text = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(value)?.[1];
  return text === undefined ? null : Buffer.from(text, "base64");
}

/** Hashed first, so that timing does not reveal the length either. */
function equalTexts(given: Buffer, expected: Buffer): boolean {
  const [one, other] = [given, expected].map((bytes) => createHash("sha256").update(bytes).digest()) as [Buffer, Buffer];
  return timingSafeEqual(one, other);
}
