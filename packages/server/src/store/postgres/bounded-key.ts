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
  if (kept.length * 3 <= BYTES_MAX || Buffer.byteLength(kept) <= BYTES_MAX) return kept;
  return `sha256 ${createHash("sha256").update(kept).digest("hex")}`;
}

/** A number for an advisory lock. Two keys that share one only wait for each other without need. */
export function lockNumber(...parts: readonly (string | number)[]): string {
  const digest = createHash("sha256").update(JSON.stringify(parts)).digest();
  return digest.readBigInt64BE().toString();
}
