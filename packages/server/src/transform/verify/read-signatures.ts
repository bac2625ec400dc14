/** Parses signatures from a header: anything that is not exactly hexadecimal or base64 is a fault that names the character. */

import { canonicalName } from "@inlet/protocol";
import type { Algorithm, ClaimFault } from "./signed-request.ts";

export type Encoding = "hex" | "base64";

export const DIGEST_BYTES: Readonly<Record<Algorithm, number>> = { sha1: 20, sha256: 32, sha512: 64 };

const OUTSIDE: Readonly<Record<Encoding, RegExp>> = { hex: /[^0-9a-fA-F]/, base64: /[^A-Za-z0-9+/=]/ };
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

export interface SignatureForm {
  header: string;
  prefix: string;
  encoding: Encoding;
  algorithm: Algorithm;
}

/** Several signatures are separated by commas; those with another prefix belong to another version. */
export function readSignatures(value: string, { header, prefix, encoding, algorithm }: SignatureForm): Buffer[] | ClaimFault {
  const name = canonicalName(header);
  const given = prefix.includes(",") ? [value] : value.split(",").map((part) => part.trim());
  const texts = given.filter((part) => part.startsWith(prefix)).map((part) => part.slice(prefix.length));
  if (texts.length === 0) return { reason: `The header ${name} does not begin with "${prefix}".`, header: name, character: 1 };
  const faults = texts.map((text) => signatureFault(text, encoding, DIGEST_BYTES[algorithm]));
  const [first] = faults;
  if (first && faults.every((fault) => fault !== null)) {
    const character = value.indexOf(texts[0] as string) + first.character;
    return { reason: `The signature in the header ${name} ${first.what}.`, header: name, character };
  }
  return texts.filter((_, at) => faults[at] === null).map((text) => Buffer.from(text, encoding));
}

export function isBase64(text: string): boolean {
  return text !== "" && BASE64.test(text);
}

function signatureFault(text: string, encoding: Encoding, bytes: number): { what: string; character: number } | null {
  const outside = OUTSIDE[encoding].exec(text);
  if (outside) {
    const character = outside.index + 1;
    return { what: `is not ${encoding}: character ${character} is ${JSON.stringify(outside[0])}`, character };
  }
  const decoded = Buffer.from(text, encoding).length;
  if (decoded === bytes && (encoding === "hex" ? text.length === bytes * 2 : isBase64(text))) return null;
  return { what: `has ${decoded} bytes, not ${bytes}`, character: Math.max(1, text.length) };
}
