/** The filters of recorded requests: in the list, and in jobs. */

import type { WebhookRequestListParams } from "../../store/contract/index.ts";
import { readInstant } from "../instant.ts";

export interface RequestFilterQuery {
  outcome?: string;
  q?: string;
  from?: string;
  to?: string;
}

export const REQUEST_FILTERS = {
  outcome: { type: "string", minLength: 1, description: "`accepted`, `handshake`, or the code of an error." },
  q: { type: "string", minLength: 1, maxLength: 200, description: "Text in the body; ignores case." },
  from: { type: "string", description: "Received at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Received before: ISO 8601 or milliseconds." },
} as const;

export function requestFilter(query: RequestFilterQuery): Pick<WebhookRequestListParams, "from" | "to" | "outcome" | "text"> {
  return {
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.outcome !== undefined && { outcome: query.outcome }),
    ...(query.q !== undefined && { text: query.q }),
  };
}
