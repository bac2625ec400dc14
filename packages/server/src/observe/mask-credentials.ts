/**
 * Keeps credentials out of records and logs: headers that contain one are masked by name, and so is every header, query parameter, log line
 * and error that contains one of the webhook's secrets. Signatures are not credentials, and are kept.
 *
 * In texts, secrets of fewer than four characters are kept: masking every "a" would make a log unreadable, and guessing is quicker than
 * reading logs.
 */

import { MASK, Refusal, SECRET_UNITS_MIN, secretForms, withoutSecrets } from "@inlet/protocol";
import type { Webhook } from "../store/contract/index.ts";

/** The query parameters that contain a credential, by preset. */
const VERIFY_TOKEN = "hub.verify_token";
const HANDED_OVER_HEADER = "x-hook-secret";

export interface MaskedRequest {
  webhook: Pick<Webhook, "verify" | "handshake" | "secrets">;
  /** Alternating names and values. */
  rawHeaders: readonly string[];
}

export interface Masking {
  headers(): readonly string[];
  query(query: string): string;
  /** A text that user code wrote or threw. */
  text(text: string): string;
}

/** `configured` are names in lower case. */
export function maskingFor({ webhook, rawHeaders }: MaskedRequest, configured: ReadonlySet<string>): Masking {
  const { verify, handshake } = webhook;
  if (!verify && !handshake && configured.size === 0) return { headers: () => rawHeaders, query: (query) => query, text: (text) => text };
  const secrets = [...new Set([...webhook.secrets.verify, ...(webhook.secrets.handshake ?? [])])];
  const credentials = credentialNames(webhook);
  const isSecret = (text: string) => secrets.includes(text);
  const nameAt = (at: number) => (rawHeaders[at - 1] ?? "").toLowerCase();
  const isNamed = (at: number) => configured.has(nameAt(at)) || credentials.includes(nameAt(at));
  return {
    headers: () => rawHeaders.map((text, at) => (at % 2 === 1 && (isNamed(at) || isSecret(text)) ? MASK : text)),
    query: (query) =>
      query === ""
        ? query
        : query
            .split("&")
            .map((part) => maskedParameter(part, isSecret))
            .join("&"),
    text: (text) => {
      const received = rawHeaders.filter((_, at) => at % 2 === 1 && credentials.includes(nameAt(at))).map(credentialIn);
      const pairs = verify?.scheme === "basic" ? secrets.map((secret) => `${verify.user ?? ""}:${secret}`) : [];
      return withoutSecrets(text, [
        ...received.filter(({ length }) => length >= SECRET_UNITS_MIN),
        ...[...secrets, ...pairs].flatMap(secretForms),
      ]);
    },
  };
}

/** The refusal as it is logged, recorded and sent: its texts may be of user code, which reads the credentials in headers. */
export function maskRefusal({ code, message, details, retryAfterS }: Refusal, { text }: Masking): Refusal {
  const shown = details?.map((detail) => ("message" in detail ? { ...detail, message: text(detail.message) } : detail));
  return new Refusal(code, text(message), shown, retryAfterS);
}

/** A header's value as received, without the word Basic: other bytes may decode to the same secret. */
function credentialIn(value: string): string {
  return value.trim().replace(/^basic +/i, "");
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
