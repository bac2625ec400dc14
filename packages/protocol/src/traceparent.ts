/** The header `traceparent` of W3C Trace Context: by it one trace leads from a sender through the service to the app. */

export const TRACEPARENT_HEADER = "traceparent";

/** Version 00. Ids of zeros stand for none. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The header's text, or null when it is not one that can be carried on. */
export function readTraceparent(value: string | readonly string[] | undefined): string | null {
  return typeof value === "string" && TRACEPARENT.test(value) ? value : null;
}

export function traceIdOf(traceparent: string): string {
  return traceparent.slice(3, 35);
}
