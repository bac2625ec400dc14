/** A progress bar for long operations, shown only in a terminal. */

import { OWN_ESCAPE } from "./terminal-text.ts";

/** To the first column, and empty from there. */
const LINE_START = `${OWN_ESCAPE}[G${OWN_ESCAPE}[K`;
const QUIET_MS = 400;
const EVERY_MS = 100;
const BAR_UNITS = 24;

export interface ProgressBar {
  show(text: (elapsedMs: number) => string): void;
  /** Removes the bar from the screen. */
  clear(): void;
}

export function createProgressBar(
  stream: Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write">,
  now: () => number = Date.now,
): ProgressBar {
  const startedAt = now();
  let shownAt = 0;
  return {
    show(text) {
      const at = now();
      if (!stream.isTTY || at - startedAt < QUIET_MS || at - shownAt < EVERY_MS) return;
      shownAt = at;
      stream.write(`${LINE_START}${text(at - startedAt).slice(0, (stream.columns ?? 80) - 1)}`);
    },
    clear() {
      if (shownAt > 0) stream.write(LINE_START);
    },
  };
}

/** `share` is between 0 and 1. */
export function barText(share: number, words: string): string {
  const filled = Math.round(share * BAR_UNITS);
  return `[${"#".repeat(filled)}${"-".repeat(BAR_UNITS - filled)}] ${Math.floor(share * 100)} %  ${words}`;
}

export function perSecond(count: number, elapsedMs: number): string {
  return `${Math.round((count / Math.max(elapsedMs, 1)) * 1_000).toLocaleString("en")}/s`;
}
