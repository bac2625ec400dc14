/** Durations as SDKs and people write them: as in Go ("1h30m", "1.5s", "100ms"), with days and weeks added. */

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60 * SECOND_MS;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

const UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // The micro sign and the Greek letter: both are in use.
  "\u00b5s": 1e-3,
  "\u03bcs": 1e-3,
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

/** The longest that anything waits, from sleeps to limits of runs: a year, leap day included. */
export const YEAR_MS = 366 * DAY_MS;

const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h|d|w)/y;

/** In milliseconds, rounded; null if the text is not a duration, or negative. */
export function parseDuration(text: string): number | null {
  if (text === "0") return 0;
  // Bounds hostile texts; "1w6d23h59m59s999ms999us999ns" is still accepted.
  if (text === "" || text.length > 100) return null;
  let totalMs = 0;
  PART.lastIndex = 0;
  while (PART.lastIndex < text.length) {
    const part = PART.exec(text);
    if (!part) return null;
    totalMs += Number(part[1]) * (UNITS_MS[part[2] as string] as number);
  }
  return Number.isSafeInteger(Math.round(totalMs)) ? Math.round(totalMs) : null;
}

const WRITTEN_UNITS: readonly (readonly [name: string, ms: number])[] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
];

/** In the largest unit that gives a whole number, `30d`. */
export function formatDuration(ms: number): string {
  const [name, unit] = WRITTEN_UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? ["ms", 1];
  return `${ms / unit}${name}`;
}
