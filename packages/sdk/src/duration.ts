/** Durations: milliseconds or strings such as "1h30m", and the form that the service reads. */

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const LONG_NAMES: readonly [RegExp, string][] = [
  [/^(?:ms|msecs?|milliseconds?)$/, "ms"],
  [/^(?:s|secs?|seconds?)$/, "s"],
  [/^(?:m|mins?|minutes?)$/, "m"],
  [/^(?:h|hrs?|hours?)$/, "h"],
  [/^(?:d|days?)$/, "d"],
  [/^(?:w|weeks?)$/, "w"],
];

/** `"1h30m"`, `"1.5 hours"`, `"2 days 4h"`, or a number of milliseconds. Throws on anything else. */
export function durationMs(duration: number | string): number {
  if (typeof duration === "number") {
    if (!Number.isFinite(duration) || duration < 0) throw new RangeError(`A duration must be 0 or more milliseconds, not ${duration}`);
    return Math.ceil(duration);
  }
  const text = duration.trim().toLowerCase();
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/g)];
  const read = parts.map((part) => part[0]).join("");
  if (parts.length === 0 || read.length !== text.length) throw unreadable(duration);
  return Math.ceil(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * unitMs(unit ?? "", duration), 0));
}

/** Largest units first, as the service and Go read them: `5400000` is `1h30m`. */
export function durationText(duration: number | string): string {
  let rest = durationMs(duration);
  if (rest === 0) return "0s";
  let text = "";
  for (const unit of ["w", "d", "h", "m", "s", "ms"]) {
    const size = UNIT_MS[unit] as number;
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text;
}

/** A time as ISO 8601; throws if it is invalid. */
export function instantText(instant: Date | string | number): string {
  const date = instant instanceof Date ? instant : new Date(instant);
  if (Number.isNaN(date.getTime()))
    throw new RangeError(`Not a point in time: ${JSON.stringify(instant)}. Use a Date, ISO 8601 or milliseconds`);
  return date.toISOString();
}

function unitMs(name: string, duration: string): number {
  const unit = LONG_NAMES.find(([pattern]) => pattern.test(name))?.[1];
  if (!unit) throw unreadable(duration);
  return UNIT_MS[unit] as number;
}

function unreadable(duration: string): RangeError {
  return new RangeError(`Not a duration: "${duration}". Use milliseconds or a text such as "30s", "1h30m" or "2 days"`);
}
