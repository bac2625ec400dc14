/** A copy of a recorded webhook request: its headers, query and body as they came, byte for byte. */

import { EVENT_ID_SEED_HEADER } from "@inlet/protocol";
import { seedOf } from "./event-copy.ts";

export interface RecordedRequest {
  id: string;
  /** Names and values in turn. */
  rawHeaders: string[];
  rawQuery: string;
  body: string | null;
  /** The bytes, where `body` is not exactly their text. */
  bodyBase64?: string;
  outcome: string;
}

export interface RequestCopy {
  query: string;
  /** Names and values in turn. */
  headers: string[];
  body: Buffer;
}

/** Headers of one journey, not of the request: the next hop writes its own. */
const OF_THE_JOURNEY: ReadonlySet<string> = new Set([
  ...["host", "connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "expect"],
  ...["content-length", "transfer-encoding"],
]);
/** Turned away before anybody looked at them; a stranger's requests have no business on a developer's machine. */
const TURNED_AWAY: ReadonlySet<string> = new Set(["webhook_not_found", "ip_denied"]);

/** Why a request is not forwarded, or null. */
export function reasonToSkip({ body, outcome }: RecordedRequest): string | null {
  if (TURNED_AWAY.has(outcome)) return outcome;
  return body === null ? "its body was too large to keep" : null;
}

export function requestCopy({ rawHeaders, rawQuery, body, bodyBase64 }: RecordedRequest): RequestCopy {
  const isOfTheJourney = (name = "") => OF_THE_JOURNEY.has(name.toLowerCase());
  return {
    query: rawQuery,
    headers: rawHeaders.filter((_, at) => !isOfTheJourney(rawHeaders[at - (at % 2)])),
    body: bodyBase64 === undefined ? Buffer.from(body ?? "") : Buffer.from(bodyBase64, "base64"),
  };
}

/** Makes the copy the same event at another Inlet, however often it arrives. */
export function seedHeader({ id }: RecordedRequest): string[] {
  return [EVENT_ID_SEED_HEADER, seedOf(id.slice(id.indexOf("_") + 1))];
}
