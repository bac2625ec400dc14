/** The filters of events: in the list, and in jobs. */

import type { EventListParams } from "../../store/contract/index.ts";
import { readInstant } from "../instant.ts";
import { readWhere, WHERE } from "../where.ts";

export interface EventFilterQuery {
  name?: string;
  from?: string;
  to?: string;
  id?: string;
  source?: string;
  q?: string;
  internal?: boolean;
  matched?: boolean;
  where?: string;
}

export const EVENT_FILTERS = {
  name: { type: "string", minLength: 1, description: "Event name; may end in `*`." },
  from: { type: "string", description: "Received at or after: ISO 8601 or milliseconds." },
  to: { type: "string", description: "Received before: ISO 8601 or milliseconds." },
  id: { type: "string", minLength: 1, description: "The sender's id, used for deduplication." },
  source: { type: "string", minLength: 1, description: "A kind of source (key, webhook, function, internal) or the id of one." },
  q: { type: "string", minLength: 1, description: "Text in the payload; ignores case." },
  internal: { type: "boolean", description: "`false` excludes events that the service itself created." },
  matched: { type: "boolean", description: "`false`: events that neither started nor resumed a run." },
  where: WHERE,
} as const;

export function eventFilter(query: EventFilterQuery): Omit<EventListParams, "environmentId" | "limit" | "after"> {
  return {
    ...(query.from !== undefined && { from: readInstant("from", query.from) }),
    ...(query.to !== undefined && { to: readInstant("to", query.to) }),
    ...(query.name !== undefined && { name: query.name }),
    ...(query.id !== undefined && { dedupId: query.id }),
    ...(query.source !== undefined && { source: query.source }),
    ...(query.q !== undefined && { text: query.q }),
    ...(query.internal !== undefined && { internal: query.internal }),
    ...(query.matched !== undefined && { matched: query.matched }),
    ...(query.where !== undefined && { where: readWhere(query.where) }),
  };
}
