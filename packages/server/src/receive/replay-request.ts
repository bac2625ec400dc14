/** Sends a recorded webhook request through the service again, as if it came in now. */

import type { WebhookRequest } from "../store/contract/index.ts";
import type { Answer, InboundRequest } from "./inbound-request.ts";

/** Headers that describe how the body travelled; what is recorded is the body itself. */
const OF_THE_JOURNEY: ReadonlySet<string> = new Set(["content-encoding", "content-length", "transfer-encoding"]);

export function replayRequest(
  receive: (request: InboundRequest) => Promise<Answer>,
  record: WebhookRequest,
  token: string,
): Promise<Answer> {
  const headers = Object.entries(JSON.parse(record.headers) as Record<string, string>).filter(
    ([name]) => !OF_THE_JOURNEY.has(name.toLowerCase()),
  );
  return receive({
    keyText: token,
    query: queryText(JSON.parse(record.query) as Record<string, string[]>),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    rawHeaders: headers.flat(),
    ip: record.ip,
    readBody: () => Promise.resolve(bodyOf(record)),
  });
}

/** The bytes of a recorded body. */
export function bodyOf({ body, bodyBase64 }: Pick<WebhookRequest, "body" | "bodyBase64">): Buffer {
  return bodyBase64 === null ? Buffer.from(body ?? "") : Buffer.from(bodyBase64, "base64");
}

function queryText(query: Record<string, string[]>): string {
  const parameters = Object.entries(query).flatMap(([name, values]) => values.map((value): [string, string] => [name, value]));
  return new URLSearchParams(parameters).toString();
}
