/**
 * What each scheme reads from a request, according to the providers' public documentation. All are HMACs over the raw bytes; they
 * differ in what precedes and follows these bytes, and in where signature and time are sent.
 */

import type { VerifyScheme, WebhookVerify } from "@inlet/protocol";
import { readSignatures } from "./read-signatures.ts";
import { timeInHeader } from "./sent-times.ts";
import {
  type Claim,
  type ClaimFault,
  headerBytes,
  headerOf,
  isFault,
  missing,
  type SignedParts,
  type SignedRequest,
  UNTIMED,
} from "./signed-request.ts";
import { parseTemplate, type TemplatePart } from "./signed-template.ts";
import { readTwilio } from "./twilio.ts";

type ReadClaim = (request: SignedRequest, verify: WebhookVerify) => Claim | ClaimFault;

/** `basic` and `header` carry the secret itself: see verify-request.ts. */
export const CLAIMS: Readonly<Record<Exclude<VerifyScheme, "basic" | "header">, ReadClaim>> = {
  "standard-webhooks": readStandardWebhooks,
  stripe: readStripe,
  github: (request) => simple(request, "X-Hub-Signature-256", "sha256=", "hex"),
  shopify: (request) => simple(request, "X-Shopify-Hmac-Sha256", "", "base64"),
  slack: readSlack,
  twilio: readTwilio,
  linear: readLinear,
  hmac: readHmac,
};

function simple(request: SignedRequest, header: string, prefix: string, encoding: "hex" | "base64"): Claim | ClaimFault {
  return readHmac(request, { scheme: "hmac", toleranceSeconds: 0, algorithm: "sha256", header, prefix, encoding, signed: "{raw}" });
}

/** `webhook-signature: v1,<base64> v1,<base64>`; Svix sends the same under its own names. */
function readStandardWebhooks(request: SignedRequest): Claim | ClaimFault {
  const family =
    headerOf(request, "webhook-signature") === undefined && headerOf(request, "svix-signature") !== undefined ? "Svix" : "Webhook";
  const values = ["Id", "Timestamp", "Signature"].map((name) => headerOf(request, `${family}-${name}`));
  const absent = values.indexOf(undefined);
  if (absent >= 0) return missing(`${family}-${["Id", "Timestamp", "Signature"][absent]}`);
  const [id, timestamp, signature] = values as [string, string, string];
  const header = `${family}-Signature`;
  // A comma separates version and signature, a space separates signatures: converted to the common form.
  const listed = signature
    .split(" ")
    .map((part) => part.replace(/^(v\d+a?),/, "$1="))
    .join(",");
  const signatures = readSignatures(listed, { header, prefix: "v1=", encoding: "base64", algorithm: "sha256" });
  if (isFault(signatures)) return signatures;
  return {
    header,
    signatures,
    algorithm: "sha256",
    signed: [[headerBytes(id), ".", headerBytes(timestamp), ".", request.bytes]],
    sentAt: timeInHeader(`${family}-Timestamp`, timestamp),
  };
}

/** `Stripe-Signature: t=<seconds>,v1=<hex>,v1=<hex>`. */
function readStripe(request: SignedRequest, { header = "Stripe-Signature" }: WebhookVerify): Claim | ClaimFault {
  const value = headerOf(request, header);
  if (value === undefined) return missing(header);
  const timestamp = /(?:^|,)\s*t=([^,]*)/.exec(value)?.[1]?.trim();
  if (timestamp === undefined) return { reason: `The header ${header} has no time: "t=" is missing.`, header };
  const signatures = readSignatures(value, { header, prefix: "v1=", encoding: "hex", algorithm: "sha256" });
  if (isFault(signatures)) return signatures;
  return {
    header,
    signatures,
    algorithm: "sha256",
    signed: [[headerBytes(timestamp), ".", request.bytes]],
    sentAt: timeInHeader(header, timestamp),
  };
}

function readSlack(request: SignedRequest): Claim | ClaimFault {
  return readHmac(request, {
    scheme: "hmac",
    toleranceSeconds: 0,
    algorithm: "sha256",
    encoding: "hex",
    prefix: "v0=",
    header: "X-Slack-Signature",
    timestampHeader: "X-Slack-Request-Timestamp",
    signed: "v0:{timestamp}:{raw}",
  });
}

/** The time is in the signed body, in milliseconds. */
function readLinear(request: SignedRequest): Claim | ClaimFault {
  const claim = simple(request, "Linear-Signature", "", "hex");
  if (isFault(claim)) return claim;
  return {
    ...claim,
    sentAt() {
      const ms = webhookTimestamp(request.bytes);
      return ms === undefined ? null : { where: "webhookTimestamp", ms: typeof ms === "number" ? ms : null };
    },
  };
}

function webhookTimestamp(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())?.webhookTimestamp;
  } catch {
    return undefined;
  }
}

function readHmac(request: SignedRequest, verify: WebhookVerify): Claim | ClaimFault {
  const { header = "", prefix = "", encoding = "hex", algorithm = "sha256", signed = "{raw}", timestampHeader } = verify;
  const value = headerOf(request, header);
  if (value === undefined) return missing(header);
  const timestamp = timestampHeader === undefined ? undefined : headerOf(request, timestampHeader);
  if (timestampHeader !== undefined && timestamp === undefined) return missing(timestampHeader);
  const signatures = readSignatures(value, { header, prefix, encoding, algorithm });
  if (isFault(signatures)) return signatures;
  const parts = parseTemplate(signed);
  const absent = parts.find((part) => "header" in part && headerOf(request, part.header) === undefined);
  if (absent && "header" in absent) return missing(absent.header);
  const urls = parts.some((part) => "url" in part) ? request.urls : [""];
  return {
    header,
    signatures,
    algorithm,
    signed: urls.map((url) => filled(parts, request, timestamp ?? "", url)),
    sentAt: timestampHeader === undefined ? UNTIMED : timeInHeader(timestampHeader, timestamp ?? ""),
  };
}

function filled(parts: readonly TemplatePart[], request: SignedRequest, timestamp: string, url: string): SignedParts {
  return parts.map((part) => {
    if ("literal" in part) return part.literal;
    if ("timestamp" in part) return headerBytes(timestamp);
    if ("header" in part) return headerBytes(headerOf(request, part.header) ?? "");
    return "url" in part ? url : request.bytes;
  });
}
