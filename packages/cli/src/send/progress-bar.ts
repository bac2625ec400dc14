/** A bar that shows how far a long input has come; on a terminal only, and not for what is over in a moment. */

const QUIET_MS = 400;
const EVERY_MS = 100;
const BAR_UNITS = 24;

export interface Progress {
  /** Bytes read of those there are; null when nobody knows how many. */
  bytesRead: number;
  bytesTotal: number | null;
  accepted: number;
}

export interface ProgressBar {
  show(progress: Progress): void;
  /** Takes the bar off the screen. */
  clear(): void;
}

export function createProgressBar(
  stream: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write">,
  now: () => number = Date.now,
): ProgressBar {
  const startedAt = now();
  let shownAt = 0;
  return {
    show(progress) {
      const at = now();
      if (!stream.isTTY || at - startedAt < QUIET_MS || at - shownAt < EVERY_MS) return;
      shownAt = at;
      stream.write(`\r\x1b[K${progressText(progress, at - startedAt).slice(0, (stream.columns ?? 80) - 1)}`);
    },
    clear() {
      if (shownAt > 0) stream.write("\r\x1b[K");
    },
  };
}

export function progressText({ bytesRead, bytesTotal, accepted }: Progress, elapsedMs: number): string {
  const rate = Math.round((accepted / Math.max(elapsedMs, 1)) * 1_000);
  const counts = `${accepted.toLocaleString("en")} events accepted, ${rate.toLocaleString("en")}/s`;
  if (!bytesTotal) return counts;
  const share = Math.min(1, bytesRead / bytesTotal);
  const filled = Math.round(share * BAR_UNITS);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_UNITS - filled)}] ${Math.floor(share * 100)} %  ${counts}`;
}
