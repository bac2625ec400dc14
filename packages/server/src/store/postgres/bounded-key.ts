/** Bounds keys whose values senders choose: an index of PostgreSQL holds rows of at most about 2,700 bytes. */

import { createHash } from "node:crypto";
import { toStoreText } from "../shared/store-text.ts";

const BYTES_MAX = 1_000;

/** The text itself, or a hash of what is stored for it if that is long. */
export function boundedKey(text: string): string {
  return isShort(text) ? text : `sha256 ${createHash("sha256").update(toStoreText(text)).digest("hex")}`;
}

/** Whether what is stored for a text fits into an index. */
export function isShort(text: string): boolean {
  const stored = toStoreText(text);
  return stored.length * 3 <= BYTES_MAX || Buffer.byteLength(stored) <= BYTES_MAX;
}
