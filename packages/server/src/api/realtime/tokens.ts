/**
 * Subscription tokens for browsers: JSON Web Tokens (HS256) that name the environment and the topics. They are valid for a minute, in
 * which the connection has to be opened; the connection itself has no time limit, and ends with the key.
 *
 * They are signed with a secret derived from the signing key of the app that asked for them: every node knows it, revoking the key
 * invalidates its tokens, and whoever holds the key of one environment cannot make tokens for another.
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { type EnvironmentId, type KeyId, Refusal } from "@inlet/protocol";
import { RestRefusal } from "../rest-errors.ts";

export interface RealtimeTopic {
  channel: string;
  name: string;
}

export interface TokenClaims {
  /** Connections are counted by it. */
  tokenId: string;
  environmentId: EnvironmentId;
  topics: readonly RealtimeTopic[];
  /** The signing key that signed it; null on a dev server, which has none. */
  keyId: KeyId | null;
}

export interface TokenKey {
  /** Null on a dev server. */
  id: KeyId | null;
  text: string;
}

export interface RealtimeTokensParts {
  /** Valid signing keys of the environment, newest first. */
  keys(environmentId: EnvironmentId): readonly TokenKey[];
  now(): number;
}

const ISSUER = "inlet-realtime";
const LIFETIME_S = 60;
const HEADER = encode({ alg: "HS256", typ: "JWT" });
const TOKEN_UNITS_MAX = 64 * 1024;

export class RealtimeTokens {
  readonly #parts: RealtimeTokensParts;

  constructor(parts: RealtimeTokensParts) {
    this.#parts = parts;
  }

  /** Signed with the key given, so that its revocation ends whatever was opened with it. */
  issue({ environmentId, topics, keyId }: Omit<TokenClaims, "tokenId">): string {
    const iat = Math.floor(this.#parts.now() / 1_000);
    const jti = randomBytes(8).toString("base64url");
    const claims = encode({ iss: ISSUER, jti, iat, exp: iat + LIFETIME_S, env: environmentId, topics });
    const key = this.#parts.keys(environmentId).find(({ id }) => id === keyId);
    if (!key) throw new RestRefusal("signing_key_invalid", "The app's signing key was revoked while the request arrived.");
    return `${HEADER}.${claims}.${sign(`${HEADER}.${claims}`, key.text).toString("base64url")}`;
  }

  /** Null if it was not issued here, has expired, or its key was revoked. */
  read(token: string): TokenClaims | null {
    const [header = "", claims = "", signature = ""] = token.length > TOKEN_UNITS_MAX ? [] : token.split(".");
    const claimed = header === HEADER ? parsed(claims) : null;
    if (!claimed) return null;
    const given = Buffer.from(signature, "base64url");
    const isGenuine = ({ text }: TokenKey) => {
      const expected = sign(`${header}.${claims}`, text);
      return expected.length === given.length && timingSafeEqual(expected, given);
    };
    const [key] = this.#parts.keys(claimed.env).filter(isGenuine);
    if (!key) return null;
    const { iss, jti, exp, env, topics } = claimed;
    if (iss !== ISSUER || exp * 1_000 <= this.#parts.now()) return null;
    return { tokenId: jti, environmentId: env, topics, keyId: key.id };
  }
}

interface WrittenClaims {
  iss: string;
  jti: string;
  exp: number;
  env: EnvironmentId;
  topics: readonly RealtimeTopic[];
}

/** What a token claims. Nothing of it is true before the signature is checked with a key of the environment it names. */
function parsed(claims: string): WrittenClaims | null {
  try {
    const value = JSON.parse(Buffer.from(claims, "base64url").toString()) as WrittenClaims | null;
    return Number.isInteger(value?.env) ? value : null;
  } catch {
    return null;
  }
}

/**
 * Wrong tokens use up no attempts of their address: a token has as many bits as a signature and cannot be guessed, and pages hold expired
 * ones without any fault of the people behind the address.
 */
export function tokenInvalid(): Refusal {
  return new Refusal("realtime_token_invalid", "The token is missing, was not issued here, or is older than a minute.");
}

function sign(text: string, signingKey: string): Buffer {
  const secret = createHmac("sha256", signingKey).update("realtime tokens").digest();
  return createHmac("sha256", secret).update(text).digest();
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
