/** Keys whose values senders choose, made fit for an index: PostgreSQL keeps rows of at most some 2,700 bytes in one. */

import { createHash } from "node:crypto";
import { toStoreText } from "../contract/index.ts";

const BYTES_MAX = 1_000;

/** The text itself, or its hash when it is long. */
export function boundedKey(text: string): string {
  return boundText(toStoreText(text));
}

/** The same for a text that is escaped already. */
export function boundText(kept: string): string {
  return isShort(kept) ? kept : `sha256 ${createHash("sha256").update(kept).digest("hex")}`;
}

/** Whether a text can stand in an index as it is. */
export function isShort(kept: string): boolean {
  return kept.length * 3 <= BYTES_MAX || Buffer.byteLength(kept) <= BYTES_MAX;
}
