/** Bounds keys whose values senders choose: an index of PostgreSQL holds rows of at most about 2,700 bytes. */

import { createHash } from "node:crypto";
import { toStoreText } from "../contract/index.ts";

const BYTES_MAX = 1_000;

/** The text itself, or its hash if it is long. */
export function boundedKey(text: string): string {
  return boundText(toStoreText(text));
}

/** The same for a text that is already escaped. */
export function boundText(kept: string): string {
  return isShort(kept) ? kept : `sha256 ${createHash("sha256").update(kept).digest("hex")}`;
}

/** Whether a text fits into an index unchanged. */
export function isShort(kept: string): boolean {
  return kept.length * 3 <= BYTES_MAX || Buffer.byteLength(kept) <= BYTES_MAX;
}
