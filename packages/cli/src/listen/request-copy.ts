/** A copy of a recorded webhook request: headers, query and body, byte for byte. */

import { EVENT_ID_SEED_HEADER, seedHeaderOf } from "@inlet/protocol";

export interface RecordedRequest {
  id: string;
  /** Alternating names and values. */
  rawHeaders: string[];
  rawQuery: string;
  body: string | null;
  /** The bytes, if `body` does not represent them exactly. */
  bodyBase64?: string;
  outcome: string;
}

export interface RequestCopy {
  query: string;
  /** Alternating names and values. */
  headers: string[];
  body: Buffer;
}

/** Hop-by-hop headers, which each sender sets itself. */
const OF_THE_JOURNEY: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
  "expect",
  "content-length",
  "transfer-encoding",
]);
/** Outcomes that are not forwarded: requests from denied addresses, to closed URLs or with a wrong signature, and handshakes. */
const TURNED_AWAY: ReadonlySet<string> = new Set(["webhook_not_found", "ip_denied", "signature_invalid", "secret_missing", "handshake"]);

/** The reason why a request is not forwarded, or null. */
export function reasonToSkip({ body, outcome }: RecordedRequest): string | null {
  if (TURNED_AWAY.has(outcome)) return outcome;
  return body === null ? "its body was too large to store" : null;
}

export function requestCopy({ rawHeaders, rawQuery, body, bodyBase64 }: RecordedRequest): RequestCopy {
  const isOfTheJourney = (name = "") => OF_THE_JOURNEY.has(name.toLowerCase());
  return {
    query: rawQuery,
    headers: rawHeaders.filter((_, at) => !isOfTheJourney(rawHeaders[at - (at % 2)])),
    body: bodyBase64 === undefined ? Buffer.from(body ?? "") : Buffer.from(bodyBase64, "base64"),
  };
}

/** The seed that makes repeated copies the same event at another Inlet. */
export function seedHeader({ id }: RecordedRequest): string[] {
  return [EVENT_ID_SEED_HEADER, seedHeaderOf(id.slice(id.indexOf("_") + 1))];
}
