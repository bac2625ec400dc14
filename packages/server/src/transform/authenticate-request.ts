/**
 * The checks before the transform: content decoding, handshake, signature verification. Of the body, only what a handshake itself
 * needs is parsed here, and the handshake is the only user code that runs before verification.
 */

import { canonicalName, MASK, parseQuery, Refusal } from "@inlet/protocol";
import type { HandedOver, Webhook } from "../store/contract/index.ts";
import { bodyText } from "./body/body-text.ts";
import { contentKind } from "./body/content-kind.ts";
import { type DecodeMemory, decodeContent, UNCOUNTED } from "./body/decode-content.ts";
import type { HandshakeResponse } from "./handshake/handshake-response.ts";
import { isChallenge } from "./handshake/presets.ts";
import { type HandshakeOutcome, type HandshakeParams, runHandshake } from "./handshake/run-handshake.ts";
import type { TransformRunner } from "./threads/transform-runner.ts";
import type { TransformOwner } from "./transform-outcome.ts";
import { credentialHeader, headersRead, type VerifyFault, verifyRequest } from "./verify/verify-request.ts";

/** What a webhook requires of a request before its transform. */
export type AuthenticationRules = Pick<Webhook, "verify" | "handshake"> & { secrets: Omit<Webhook["secrets"], "reconcile"> };

export interface AuthenticateParams {
  rules: AuthenticationRules;
  owner?: TransformOwner | undefined;
  method: string;
  bytes: Buffer;
  contentType: string | undefined;
  contentEncoding: string | undefined;
  bytesMax: number;
  memory?: DecodeMemory;
  /** By canonical name. */
  headers: Readonly<Record<string, string>>;
  query: string;
  /** The URL as the provider knows it, or the candidates for it. */
  urls: readonly string[];
  /** For a replayed request: when it was received, and the result of verification then. */
  receipt: Receipt;
  /** For tests by a person. */
  explains?: boolean;
}

export interface Receipt {
  at: number;
  /** The result of verification at receipt; null if there was none, or if it is verified now. */
  wasVerified: boolean | null;
}

export interface Authentication {
  /** After content decoding; absent if that failed. */
  bytes?: Buffer;
  refused?: Refusal;
  answer?: HandshakeResponse;
  /** A secret to store before the response is sent. */
  handedOver?: HandedOver;
  /** True if the request has a valid signature. */
  isVerified: boolean;
  fault?: VerifyFault;
  logs: string[];
  durationMs: number;
}

const NOTHING_RUN = { logs: [], durationMs: 0, isVerified: false };

export async function authenticateRequest(runner: TransformRunner, params: AuthenticateParams): Promise<Authentication> {
  const decoding = decodeContent(params.bytes, params.contentEncoding, params.bytesMax, params.memory ?? UNCOUNTED);
  const bytes = decoding instanceof Promise ? await decoding : decoding;
  if (!Buffer.isBuffer(bytes)) return { ...NOTHING_RUN, refused: bytes };
  const { handshake, verify } = params.rules;
  const shaken = handshake ? await shake(runner, params, bytes) : { logs: [], durationMs: 0 };
  if (shaken.answer || shaken.refused) return { ...shaken, bytes, isVerified: false };
  const { logs, durationMs } = shaken;
  if (params.method !== "POST") {
    const refused = new Refusal("method_not_allowed", `Events are sent with POST; the handshake did not answer this ${params.method}.`);
    return { bytes, refused, isVerified: false, logs, durationMs };
  }
  if (verify && params.rules.secrets.verify.length === 0) {
    const refused = new Refusal(
      "secret_missing",
      "This webhook has no secret yet. The request was recorded: set the secret, then replay it.",
    );
    return { bytes, refused, isVerified: false, logs, durationMs };
  }
  const fault = verify ? verification(params, bytes) : null;
  if (!fault) return { bytes, isVerified: verify !== null, logs, durationMs };
  return { bytes, refused: new Refusal("signature_invalid", fault.reason), isVerified: false, fault, logs, durationMs };
}

function shake(runner: TransformRunner, params: AuthenticateParams, bytes: Buffer): Promise<HandshakeOutcome> {
  const { method, query, owner, contentType, rules } = params;
  const { handshake } = rules;
  if (!handshake) throw new Error("a webhook without a handshake has none to run");
  const raw = bodyText(bytes, contentKind(contentType).charset).text;
  return runHandshake(runner, { handshake, owner, method, queryParams: parseQuery(query), raw, ...knownToHandshake(params) });
}

/**
 * Presets use the secrets of verify, since they return none of them and sign nothing that it accepts. Code could do both: it is given only
 * secrets of its own, and no credentials that verify reads.
 */
function knownToHandshake({
  headers,
  rules: { handshake, verify, secrets },
}: AuthenticateParams): Pick<HandshakeParams, "headers" | "secrets"> {
  if (handshake && "preset" in handshake) return { headers, secrets: secrets.handshake ?? secrets.verify };
  const credential = verify && credentialHeader(verify);
  const name = credential && canonicalName(credential);
  return { headers: name && name in headers ? { ...headers, [name]: MASK } : headers, secrets: secrets.handshake ?? [] };
}

function verification(params: AuthenticateParams, bytes: Buffer): VerifyFault | null {
  const { rules, headers, contentType, urls, receipt, explains = false } = params;
  const { verify, secrets, handshake } = rules;
  if (!verify) return null;
  if (isMasked(params)) {
    if (receipt.wasVerified) return null;
    return { reason: "The credentials of this request were masked when it was recorded, and it was not verified then." };
  }
  const request = { bytes, headers, contentType, urls, at: receipt.at, explains };
  const verified = verifyRequest({
    ...request,
    verify,
    secrets: secrets.verify,
    isChallenge: (text) => isChallenge(handshake, text),
  });
  return verified.ok ? null : verified;
}

/** Whether the headers that verification needs are masked. Only possible for recorded requests. */
function isMasked({ rules: { verify }, headers, receipt }: AuthenticateParams): boolean {
  return verify !== null && receipt.wasVerified !== null && headersRead(verify).some((name) => headers[name] === MASK);
}
