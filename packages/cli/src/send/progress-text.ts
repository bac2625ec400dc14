/** The progress of a long input, as text. */

import { barText, perSecond } from "../command-line/progress-bar.ts";

export interface Progress {
  /** Bytes read and in total; null if the total is unknown. */
  bytesRead: number;
  bytesTotal: number | null;
  accepted: number;
}

export function progressText({ bytesRead, bytesTotal, accepted }: Progress, elapsedMs: number): string {
  const counts = `${accepted.toLocaleString("en")} events accepted, ${perSecond(accepted, elapsedMs)}`;
  return bytesTotal ? barText(Math.min(1, bytesRead / bytesTotal), counts) : counts;
}
