/** Computes hashes for code in the sandbox, with Node. Takes and returns text only: see guest-globals.ts. */

import { createHash, createHmac } from "node:crypto";

const ALGORITHMS: ReadonlySet<string> = new Set(["sha1", "sha256", "sha512"]);
const HEX_FORM = "x".charCodeAt(0);

/** Algorithm, secret, input, encoding. The first letter of secret and input says which form they have. */
export function hashInHost([algorithm, secret, text, encoding]: readonly [Buffer, Buffer, Buffer, Buffer]): string {
  const name = algorithm.toString();
  if (!ALGORITHMS.has(name)) throw new Error("the sandbox asked for an unknown hash");
  const hash = secret.length === 0 ? createHash(name) : createHmac(name, bytesOf(secret));
  return hash.update(bytesOf(text)).digest(encoding.toString() === "base64" ? "base64" : "hex");
}

function bytesOf(given: Buffer): Buffer {
  const rest = given.subarray(1);
  return given[0] === HEX_FORM ? Buffer.from(rest.toString("latin1"), "hex") : rest;
}
