/**
 * The life of an event, stage by stage: the table of contents of the service. Every exit is a value: accepted, or refused
 * with a code from the catalogue.
 *
 *   receive  →  deduplicate  →  store  →  observe
 *
 * Only this file and service.ts know all stages.
 */

import { EVENT_ID_SEED_HEADER, type EventIdGenerator, environmentNamed, parseEventIdSeed, Refusal, seededEventId } from "@inlet/protocol";
import type { DedupWindow } from "./deduplicate/dedup-window.ts";
import type { RefusalLog } from "./observe/refusal-log.ts";
import { checkNames } from "./receive/check-names.ts";
import { contentTypeRefusal } from "./receive/event-content-type.ts";
import { identifySender, type Sender, type SenderRules } from "./receive/identify-sender.ts";
import type { Answer, InboundRequest } from "./receive/inbound-request.ts";
import { ipAdmitted } from "./receive/ip-list.ts";
import { parseEvents } from "./receive/parse-events.ts";
import { ABORTED } from "./receive/read-body.ts";
import type { SentEvent } from "./receive/read-event.ts";
import { type EventAppendResult, type EventStore, type NewEvent, StoreUnavailable } from "./store/contract/index.ts";

export interface EventLifeParts {
  senders: SenderRules;
  bodyBytesMax: number;
  dedupWindow: DedupWindow;
  store: EventStore;
  refusals: RefusalLog;
  eventIds: EventIdGenerator;
  now: () => number;
}

export type EventLife = (request: InboundRequest) => Promise<Answer>;

export function createEventLife(parts: EventLifeParts): EventLife {
  return async (request) => {
    const outcome = await accept(parts, request);
    if (outcome instanceof Refusal) parts.refusals.note(outcome.code);
    return outcome;
  };
}

async function accept(parts: EventLifeParts, request: InboundRequest): Promise<Answer> {
  const sender = identifySender(parts.senders, request.keyText, environmentNamed(request.headers));
  if (sender instanceof Refusal) return sender;
  if (sender.key?.ips && !ipAdmitted(sender.key.ips, request.ip)) {
    return new Refusal("ip_denied", `The lists of this key do not let the address ${request.ip} through.`);
  }

  const body = await request.readBody(sender.environment.bodyBytesMax ?? parts.bodyBytesMax);
  if (body === ABORTED || body instanceof Refusal) return body;

  const events = contentTypeRefusal(request.headers["content-type"], body) ?? parseEvents(body);
  if (events instanceof Refusal) return events;
  const denied = checkNames(sender.key?.eventNames ?? null, events);
  if (denied) return denied;

  return keep(parts, sender, events, request.headers[EVENT_ID_SEED_HEADER]);
}

/** Deduplicate and store are one transaction: see the store's contract. */
async function keep(parts: EventLifeParts, sender: Sender, events: SentEvent[], seedHeader: unknown): Promise<EventAppendResult | Refusal> {
  const receivedAt = parts.now();
  const seed = typeof seedHeader === "string" ? parseEventIdSeed(seedHeader) : null;
  const identified = events.map(
    (event, index): NewEvent => ({
      id: seed ? seededEventId(seed, index + 1) : parts.eventIds.next(receivedAt),
      name: event.name,
      ts: event.ts ?? receivedAt,
      dedupId: event.dedupId,
      data: event.data,
      extras: event.extras,
    }),
  );
  try {
    return await parts.store.eventAppend({
      environmentId: sender.environment.id,
      receivedAt,
      source: sender.source,
      duplicateSince: parts.dedupWindow.duplicateSince(receivedAt),
      idsFromSender: seed !== null,
      events: identified,
    });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return new Refusal("store_unavailable", "The store cannot be written right now; nothing was stored. Send again in a moment.");
  }
}
