/** The filters of recorded requests: in the list, and in jobs. */

import { ERRORS, nearest } from "@inlet/protocol";
import type { WebhookRequestListParams } from "../../store/contract/index.ts";
import { readInstant } from "../instant.ts";
import { invalid } from "../rest-errors.ts";

export interface RequestFilterQuery {
  outcome?: string;
  q?: string;
  from?: string;
  to?: string;
}

const OUTCOMES: readonly string[] = ["accepted", "handshake", ...Object.keys(ERRORS)];
/** More than any of them has: it bounds the search for the one that was meant. */
const OUTCOME_UNITS_MAX = 64;

export const REQUEST_FILTERS = {
  outcome: { type: "string", minLength: 1, maxLength: OUTCOME_UNITS_MAX, description: "`accepted`, `handshake`, or the code of an error." },
  q: { type: "string", minLength: 1, maxLength: 200, description: "Text in the body; ignores case." },
  from: { type: "string", description: "Received at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Received before: ISO 8601 or milliseconds." },
} as const;

export function requestFilter(query: RequestFilterQuery): Pick<WebhookRequestListParams, "from" | "to" | "outcome" | "text"> {
  return {
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.outcome !== undefined && { outcome: readOutcome(query.outcome) }),
    ...(query.q !== undefined && { text: query.q }),
  };
}

/** Checked here and not by an `enum`: the documentation of the filter would list every code of the service. */
function readOutcome(outcome: string): string {
  if (OUTCOMES.includes(outcome)) return outcome;
  const near = nearest(outcome, OUTCOMES);
  const suggestion = near === null ? "" : ` (did you mean ${near}?)`;
  throw invalid("outcome", `must be accepted, handshake or the code of an error such as transform_failed, not "${outcome}"${suggestion}`);
}
