/**
 * The handshakes of well-known providers, according to their public documentation. Each answers or refuses the provider's check, or
 * returns null if the request is not a check and is processed as usual.
 *
 * Anyone who knows the URL can ask. What is signed is therefore only what a provider's challenge can be, and verification takes no
 * such text for a signed request (isChallenge), so that a response is never the signature of an event.
 */

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { HandshakePreset, WebhookHandshake } from "@inlet/protocol";
import type { HandedOver } from "../../store/contract/index.ts";
import { type HandshakeResponse, jsonResponse, plainResponse } from "./handshake-response.ts";

export interface HandshakeRequest {
  method: string;
  /** By canonical name. */
  headers: Readonly<Record<string, string>>;
  queryParams: Readonly<Record<string, readonly string[]>>;
  raw: string;
  secrets: readonly string[];
}

export interface PresetOutcome {
  answer?: HandshakeResponse;
  /** The request has wrong credentials. */
  refused?: string;
  /** A secret to store before the response is sent. */
  handedOver?: HandedOver;
}

/** Zoom's and X's challenges are letters, digits and the signs of base64. A body of JSON is longer, or holds other characters. */
const SIGNED_CHALLENGE = /^[A-Za-z0-9+/=_-]{1,128}$/;
const SIGNING_PRESETS: ReadonlySet<HandshakePreset> = new Set(["x", "zoom"]);

/** Whether a handshake would sign this text for anyone who asks. */
export function isChallenge(handshake: WebhookHandshake | null, text: string): boolean {
  return handshake !== null && "preset" in handshake && SIGNING_PRESETS.has(handshake.preset) && SIGNED_CHALLENGE.test(text);
}

type Preset = (request: HandshakeRequest) => PresetOutcome | null;

/** Longer values are not Asana secrets. */
const HANDED_OVER_UNITS_MAX = 256;

export const PRESETS: Readonly<Record<HandshakePreset, Preset>> = {
  /** Events API: a JSON body of the type url_verification whose challenge is returned. */
  slack(request) {
    const body = postedJson(request);
    const challenge = body?.type === "url_verification" ? body.challenge : undefined;
    return typeof challenge === "string" ? { answer: plainResponse(challenge) } : null;
  },
  /** Facebook, Instagram, WhatsApp: the verify token is compared, the challenge returned. */
  meta(request) {
    const challenge = asked(request, "hub.challenge");
    if (request.method === "POST" || challenge === null || asked(request, "hub.mode") !== "subscribe") return null;
    const token = asked(request, "hub.verify_token") ?? "";
    return isOneOf(token, request.secrets) ? { answer: plainResponse(challenge) } : { refused: "The verify token is wrong." };
  },
  /** A POST without notifications; the token is decoded from the query. */
  "microsoft-graph"({ queryParams }) {
    const token = queryParams.validationToken?.[0];
    return token === undefined ? null : { answer: plainResponse(token) };
  },
  /** The challenge-response check: a GET, initially and every hour. */
  x(request) {
    const token = request.method === "POST" ? null : asked(request, "crc_token");
    return token === null
      ? null
      : signed(request, token, (secret) => jsonResponse({ response_token: `sha256=${hmac(secret, token, "base64")}` }));
  },
  dropbox(request) {
    const challenge = request.method === "POST" ? null : asked(request, "challenge");
    return challenge === null ? null : { answer: plainResponse(challenge) };
  },
  zoom(request) {
    const body = postedJson(request);
    const plainToken =
      body?.event === "endpoint.url_validation" ? (body.payload as { plainToken?: unknown } | undefined)?.plainToken : null;
    if (typeof plainToken !== "string") return null;
    return signed(request, plainToken, (secret) => jsonResponse({ plainToken, encryptedToken: hmac(secret, plainToken, "hex") }));
  },
  /** Event hooks: a GET with the challenge in a header. */
  okta({ method, headers }) {
    const challenge = headers["X-Okta-Verification-Challenge"];
    return method === "POST" || challenge === undefined ? null : { answer: jsonResponse({ verification: challenge }) };
  },
  /** A POST with the secret that signs later requests; returning it accepts it. */
  asana({ method, headers }) {
    const secret = headers["X-Hook-Secret"];
    if (method !== "POST" || secret === undefined) return null;
    if (secret === "" || secret.length > HANDED_OVER_UNITS_MAX) return { refused: "The header X-Hook-Secret holds no secret." };
    return { answer: { ...plainResponse(""), headers: ["X-Hook-Secret", secret] }, handedOver: { preset: "asana", secret } };
  },
};

function postedJson({ method, raw }: HandshakeRequest): Record<string, unknown> | null {
  if (method !== "POST" || !raw.trimStart().startsWith("{")) return null;
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

function asked({ queryParams }: HandshakeRequest, name: string): string | null {
  return queryParams[name]?.[0] ?? null;
}

/** With the first secret: a response can be signed with only one. */
function signed({ secrets }: HandshakeRequest, challenge: string, answer: (secret: string) => HandshakeResponse): PresetOutcome {
  const [secret] = secrets;
  if (!SIGNED_CHALLENGE.test(challenge)) return { refused: "The challenge is not one that the provider sends." };
  return secret === undefined ? { refused: "The webhook has no secret to answer this handshake with." } : { answer: answer(secret) };
}

function hmac(secret: string, text: string, encoding: "hex" | "base64"): string {
  return createHmac("sha256", secret).update(text).digest(encoding);
}

function isOneOf(token: string, secrets: readonly string[]): boolean {
  let isFound = false;
  for (const secret of secrets) isFound = timingSafeEqual(hashed(token), hashed(secret)) || isFound;
  return isFound;
}

function hashed(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
