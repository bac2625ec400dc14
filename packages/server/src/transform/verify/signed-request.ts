/** A request as verification sees it, and what a scheme reads from it: the signatures it brings and the bytes they are of. */

import { canonicalName } from "@inlet/protocol";

export interface SignedRequest {
  /** After content decoding, before any character decoding. */
  bytes: Buffer;
  /** By canonical name. */
  headers: Readonly<Record<string, string>>;
  contentType: string | undefined;
  /** The URL as the provider knows it; several where that is not certain. */
  urls: readonly string[];
}

export type Algorithm = "sha1" | "sha256" | "sha512";
/** Texts stand for their UTF-8 bytes. */
export type SignedParts = readonly (string | Buffer)[];

/** What a request claims: one of these signatures is that of one of these texts. */
export interface Claim {
  header: string;
  signatures: readonly Buffer[];
  algorithm: Algorithm;
  signed: readonly SignedParts[];
  /** When it was sent, for schemes that say so. Read only after the signature was found right. */
  sentAt(): SentAt | null;
}

export interface SentAt {
  /** Where it stands, for a message. */
  where: string;
  /** Null when it is no time. */
  ms: number | null;
}

export const UNTIMED = () => null;

/** What is wrong with a request before any signature is computed. */
export interface ClaimFault {
  reason: string;
  header?: string;
  /** Of the header's value, counted from 1. */
  character?: number;
}

export function headerOf({ headers }: Pick<SignedRequest, "headers">, name: string): string | undefined {
  return headers[canonicalName(name)];
}

/** Headers are bytes: Node shows each as one character. */
export function headerBytes(value: string): Buffer {
  return Buffer.from(value, "latin1");
}

export function missing(header: string): ClaimFault {
  return { reason: `The header ${canonicalName(header)} is missing.`, header: canonicalName(header) };
}

export function isFault(value: object): value is ClaimFault {
  return "reason" in value;
}
