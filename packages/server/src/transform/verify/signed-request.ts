/** A request as verification sees it, and what a scheme reads from it: its signatures and the bytes they cover. */

import { canonicalName } from "@inlet/protocol";

export interface SignedRequest {
  /** After content decoding, before any character decoding. */
  bytes: Buffer;
  /** By canonical name. */
  headers: Readonly<Record<string, string>>;
  contentType: string | undefined;
  /** The URL as the provider knows it; several if that is uncertain. */
  urls: readonly string[];
}

export type Algorithm = "sha1" | "sha256" | "sha512";
/** Texts represent their UTF-8 bytes. */
export type SignedParts = readonly (string | Buffer)[];

/** The claim of a request: one of these signatures covers one of these texts. */
export interface Claim {
  header: string;
  signatures: readonly Buffer[];
  algorithm: Algorithm;
  signed: readonly SignedParts[];
  /** When it was sent, for schemes that include a time. Read only after the signature has been verified. */
  sentAt(): SentAt | null;
}

export interface SentAt {
  /** Where it is, for a message. */
  where: string;
  /** Null if it is not a valid time. */
  ms: number | null;
}

export const UNTIMED = () => null;

/** A fault of a request that is found before any signature is computed. */
export interface ClaimFault {
  reason: string;
  header?: string;
  /** In the header's value, counted from 1. */
  character?: number;
}

export function headerOf({ headers }: Pick<SignedRequest, "headers">, name: string): string | undefined {
  return headers[canonicalName(name)];
}

/** Headers are bytes: Node represents each as one character. */
export function headerBytes(value: string): Buffer {
  return Buffer.from(value, "latin1");
}

export function missing(header: string): ClaimFault {
  return { reason: `The header ${canonicalName(header)} is missing.`, header: canonicalName(header) };
}

export function isFault(value: object): value is ClaimFault {
  return "reason" in value;
}
