/** The time range of a list, as URL parameters: a named range that ends now, or two times. */

export interface TimeRange {
  /** A range that ends now, such as `1h`. */
  range?: string;
  /** Milliseconds. */
  from?: number;
  to?: number;
}

export const RANGES: Readonly<Record<string, { label: string; ms: number }>> = {
  "15m": { label: "Last 15 minutes", ms: 900_000 },
  "1h": { label: "Last hour", ms: 3_600_000 },
  "24h": { label: "Last 24 hours", ms: 86_400_000 },
  "7d": { label: "Last 7 days", ms: 7 * 86_400_000 },
  "30d": { label: "Last 30 days", ms: 30 * 86_400_000 },
};

const MINUTE_MS = 60_000;

export function readTimeRange(search: Record<string, unknown>): TimeRange {
  const instant = (name: "from" | "to") => (Number.isFinite(Number(search[name] ?? Number.NaN)) ? { [name]: Number(search[name]) } : {});
  return { ...(String(search.range) in RANGES && { range: String(search.range) }), ...instant("from"), ...instant("to") };
}

/** Rounded to the minute: whoever comes back to a list soon finds it as it was. */
export function instantsOf({ range, from, to }: TimeRange): { from: number | undefined; to: number | undefined } {
  const named = range ? RANGES[range] : undefined;
  if (!named) return { from, to };
  return { from: Math.floor((Date.now() - named.ms) / MINUTE_MS) * MINUTE_MS, to: undefined };
}

export function withoutRange<Search extends TimeRange>({
  range: _range,
  from: _from,
  to: _to,
  ...rest
}: Search): Omit<Search, keyof TimeRange> {
  return rest;
}
