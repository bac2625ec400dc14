/**
 * Keeps credentials out of records: headers that contain one are masked by name, and so is every header, query parameter and log line
 * that contains one of the webhook's secrets. Signatures are not credentials, and are kept.
 */

import { MASK } from "@inlet/protocol";
import type { Webhook } from "../store/contract/index.ts";

/** A shorter text occurs by chance. */
const REPLACED_UNITS_MIN = 6;
/** The query parameters that contain a credential, by preset. */
const VERIFY_TOKEN = "hub.verify_token";
const HANDED_OVER_HEADER = "x-hook-secret";

export interface Masking {
  /** Alternating names and values. */
  headers(rawHeaders: readonly string[]): readonly string[];
  query(query: string): string;
  text(text: string): string;
}

const NOTHING: Masking = { headers: (rawHeaders) => rawHeaders, query: (query) => query, text: (text) => text };

/** `configured` are names in lower case. */
export function maskingFor(webhook: Pick<Webhook, "verify" | "handshake" | "secrets">, configured: ReadonlySet<string>): Masking {
  const { verify, handshake } = webhook;
  if (!verify && !handshake && configured.size === 0) return NOTHING;
  const secrets = [...new Set([...webhook.secrets.verify, ...(webhook.secrets.handshake ?? [])])];
  const names = new Set([...configured, ...credentialNames(webhook)]);
  const isSecret = (text: string) => secrets.includes(text);
  return {
    headers: (rawHeaders) =>
      rawHeaders.map((text, at) => (at % 2 === 1 && (names.has((rawHeaders[at - 1] ?? "").toLowerCase()) || isSecret(text)) ? MASK : text)),
    query: (query) =>
      query === ""
        ? query
        : query
            .split("&")
            .map((part) => maskedParameter(part, isSecret))
            .join("&"),
    text: (text) =>
      secrets.filter(({ length }) => length >= REPLACED_UNITS_MIN).reduce((masked, secret) => masked.replaceAll(secret, MASK), text),
  };
}

function credentialNames({ verify, handshake }: Pick<Webhook, "verify" | "handshake">): string[] {
  const names: string[] = [];
  if (verify?.scheme === "basic") names.push("authorization");
  if (verify?.scheme === "header" && verify.header !== undefined) names.push(verify.header.toLowerCase());
  if (handshake && "preset" in handshake && handshake.preset === "asana") names.push(HANDED_OVER_HEADER);
  return names;
}

function maskedParameter(part: string, isSecret: (text: string) => boolean): string {
  const [[name, value] = ["", ""]] = new URLSearchParams(part);
  return name === VERIFY_TOKEN || isSecret(value) ? `${part.slice(0, part.indexOf("=") + 1)}${MASK}` : part;
}
