/** The header `traceparent` of W3C Trace Context, which connects the spans of sender, service and app to one trace. */

export const TRACEPARENT_HEADER = "traceparent";

/** Version 00. Ids of zeros are invalid. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The header's text, or null if it is invalid. */
export function readTraceparent(value: string | readonly string[] | undefined): string | null {
  return typeof value === "string" && TRACEPARENT.test(value) ? value : null;
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
