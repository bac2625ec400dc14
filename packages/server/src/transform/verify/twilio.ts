/**
 * Twilio signs the URL followed, for forms, by the fields sorted by name; for any other body, the URL contains the body's hash in
 * `bodySHA256`. Twilio may or may not include the port in the URL that it signs.
 */

import { createHash } from "node:crypto";
import { parseForm } from "@inlet/protocol";
import { contentKind } from "../body/content-kind.ts";
import { readSignatures } from "./read-signatures.ts";
import { type Claim, type ClaimFault, headerOf, isFault, missing, type SignedRequest, UNTIMED } from "./signed-request.ts";

const HEADER = "X-Twilio-Signature";

export function readTwilio(request: SignedRequest): Claim | ClaimFault {
  const value = headerOf(request, HEADER);
  if (value === undefined) return missing(HEADER);
  const signatures = readSignatures(value, { header: HEADER, prefix: "", encoding: "base64", algorithm: "sha1" });
  if (isFault(signatures)) return signatures;
  const hash = bodyHashIn(request.urls[0] ?? "");
  const fault = hash === null ? null : bodyHashFault(hash, request.bytes);
  if (fault) return fault;
  if (hash === null && contentKind(request.contentType).kind !== "urlencoded" && request.bytes.length > 0) {
    return { reason: "The body is no form, and the URL has no bodySHA256: nothing that is signed covers the body." };
  }
  const fields = hash === null ? sortedFields(request.bytes) : "";
  return {
    header: HEADER,
    signatures,
    algorithm: "sha1",
    sentAt: UNTIMED,
    signed: request.urls.flatMap(withAndWithoutPort).map((url) => [url, fields]),
  };
}

/** Names and values without separators; a repeated value counts once. */
function sortedFields(bytes: Buffer): string {
  const fields = parseForm(bytes.toString());
  const names = Object.keys(fields).sort();
  return names
    .map((name) =>
      [...new Set(fields[name] ?? [])]
        .sort()
        .map((value) => name + value)
        .join(""),
    )
    .join("");
}

function bodyHashIn(url: string): string | null {
  return /[?&]bodySHA256=([^&#]*)/.exec(url)?.[1] ?? null;
}

function bodyHashFault(hash: string, bytes: Buffer): ClaimFault | null {
  const actual = createHash("sha256").update(bytes).digest("hex");
  return actual === hash.toLowerCase() ? null : { reason: "The body does not have the hash that bodySHA256 in the URL names." };
}

function withAndWithoutPort(url: string): string[] {
  const [, scheme, host, port, rest] = /^(https?):\/\/([^/:?]+|\[[^\]]*\])(?::(\d+))?(.*)$/s.exec(url) ?? [];
  if (scheme === undefined) return [url];
  const usual = scheme === "https" ? "443" : "80";
  return [url, port === undefined ? `${scheme}://${host}:${usual}${rest}` : `${scheme}://${host}${rest}`];
}
