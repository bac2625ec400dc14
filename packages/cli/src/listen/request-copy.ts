/** A copy of a recorded webhook request: its headers, query and body as they came. */

export interface RecordedRequest {
  id: string;
  headers: Record<string, string>;
  query: Record<string, string[]>;
  body: string | null;
  bodyBase64?: string;
  outcome: string;
}

export interface RequestCopy {
  query: string;
  headers: Record<string, string>;
  body: Buffer;
}

/** Headers of one journey, not of the request: the next hop writes its own. What is recorded is the body after decoding. */
const OF_THE_JOURNEY: ReadonlySet<string> = new Set([
  ...["host", "connection", "keep-alive", "proxy-connection", "te", "trailer", "upgrade", "expect"],
  ...["content-length", "content-encoding", "transfer-encoding"],
]);
/** Turned away before anybody looked at them; a stranger's requests have no business on a developer's machine. */
const TURNED_AWAY: ReadonlySet<string> = new Set(["webhook_not_found", "ip_denied"]);

/** Why a request is not forwarded, or null. */
export function reasonToSkip({ body, outcome }: RecordedRequest): string | null {
  if (TURNED_AWAY.has(outcome)) return outcome;
  return body === null ? "its body was too large to keep" : null;
}

export function requestCopy({ headers, query, body, bodyBase64 }: RecordedRequest): RequestCopy {
  const parameters = Object.entries(query).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  return {
    query: new URLSearchParams(parameters).toString(),
    headers: Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_JOURNEY.has(name.toLowerCase()))),
    body: bodyBase64 === undefined ? Buffer.from(body ?? "") : Buffer.from(bodyBase64, "base64"),
  };
}
