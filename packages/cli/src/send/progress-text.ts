/** How far a long input has come, in words. */

import { barText, perSecond } from "../command-line/progress-bar.ts";

export interface Progress {
  /** Bytes read of those there are; null when nobody knows how many. */
  bytesRead: number;
  bytesTotal: number | null;
  accepted: number;
}

export function progressText({ bytesRead, bytesTotal, accepted }: Progress, elapsedMs: number): string {
  const counts = `${accepted.toLocaleString("en")} events accepted, ${perSecond(accepted, elapsedMs)}`;
  return bytesTotal ? barText(Math.min(1, bytesRead / bytesTotal), counts) : counts;
}
