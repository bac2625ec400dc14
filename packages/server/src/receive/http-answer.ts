/** What `/e/…` answers, as HTTP: the same whoever writes it to the connection. */

import { ERRORS, errorBody, Refusal } from "@inlet/protocol";
import type { Logger } from "pino";
import { ABORTED } from "./bodies/read-body.ts";
import type { Answer, InboundRequest } from "./inbound-request.ts";

export interface HttpAnswer {
  status: number;
  /** Names and values in turn. */
  headers: string[];
  body: string;
}

export interface AnswerParts {
  receive: (request: InboundRequest) => Promise<Answer>;
  log: Logger;
}

const RETRY_AFTER_S = "1";

/** Null: nobody is there to be answered. */
export async function answerTo({ receive, log }: AnswerParts, request: InboundRequest): Promise<HttpAnswer | null> {
  try {
    const answer = await receive(request);
    if (answer === ABORTED) return null;
    return answer instanceof Refusal ? refusedAnswer(answer) : acceptedAnswer(answer.ids);
  } catch (error) {
    log.error({ err: error }, "accepting events failed unexpectedly");
    return refusedAnswer(new Refusal("internal_error", "The service failed unexpectedly; nothing was stored."));
  }
}

function acceptedAnswer(ids: readonly string[]): HttpAnswer {
  // Ids need no escaping: they are ULIDs.
  const body = `{"ids":["${ids.join('","')}"],"status":200}`;
  return { status: 200, headers: headersOf(body.length), body };
}

export function refusedAnswer(refused: Refusal): HttpAnswer {
  const body = errorBody(refused);
  const headers = headersOf(Buffer.byteLength(body));
  if (ERRORS[refused.code].retry === "retryable") headers.push("retry-after", RETRY_AFTER_S);
  return { status: refused.status, headers, body };
}

function headersOf(bytes: number): string[] {
  return ["content-type", "application/json", "content-length", String(bytes), "access-control-allow-origin", "*"];
}
