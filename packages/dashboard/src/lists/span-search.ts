/** The time range of a page's charts, as a URL parameter. */

export const SPANS = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 } as const;
export type SpanName = keyof typeof SPANS;

export interface SpanSearch {
  span?: SpanName;
}

export const DEFAULT_SPAN: SpanName = "24h";

export function readSpanSearch(search: Record<string, unknown>): SpanSearch {
  const span = String(search.span);
  return span in SPANS && span !== DEFAULT_SPAN ? { span: span as SpanName } : {};
}
