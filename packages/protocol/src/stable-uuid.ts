/** Derives a UUID from a text: the same text always gives the same UUID. For SDKs and clients that require one. */

import { createHash } from "node:crypto";

export function stableUuid(text: string): string {
  const hex = createHash("sha1").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
