/**
 * Takes one item that a provider lists. It goes through the webhook's transform as a request would, without verification. It is known by
 * the id of its event, else by its own id, else by its body: an item whose event is stored, or a duplicate within the window, was seen.
 * Any other is stored, with a record, both marked as reconciled.
 *
 * An item without an event id gives its event a dedup id made of the webhook and its own id or body, so that the store lets only one of
 * several nodes in. The Event ID follows from the seed: an item that is taken again after a crash is recognised as the same.
 */

import { createHash } from "node:crypto";
import { canonicalHeaders, EVENT_ID_SEED_HEADER, type EventId, parseEventIdSeed, Refusal, seededEventId } from "@inlet/protocol";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import { bodyKeyOf } from "../observe/webhook-record.ts";
import { bodyTooLarge } from "../receive/bodies/read-body.ts";
import { type InboundRequest, UNCOUNTED } from "../receive/inbound-request.ts";
import { isOverSoon } from "../receive/quotas/quota-refusal.ts";
import type { Directory, WebhookTarget } from "../receive/senders/directory.ts";
import type { ListedItem, NotNow, TakenItem } from "../reconcile/listed-item.ts";
import type { DedupKeyStore, Environment, EventStore, Webhook } from "../store/contract/index.ts";
import {
  bytesMaxOf,
  examine,
  type MadeEvent,
  type Received,
  refuse,
  seenRequest,
  storeMade,
  UNVERIFIED,
  type WebhookLifeParts,
} from "./webhook-life.ts";

export interface ReconcileItemParts extends WebhookLifeParts {
  store: WebhookLifeParts["store"] & Pick<EventStore, "eventList" | "eventGet"> & Pick<DedupKeyStore, "dedupKeyFind">;
  directory: Directory;
  dedupWindow: DedupWindow;
}

/** Longer ids are replaced by their hash. */
const ID_UNITS_MAX = 200;
/** Faults of the service, not of the item: it is taken again later. */
const SERVER_FAULTS = 500;
/** A listed item came from no client. */
const NO_ADDRESS = "";

export interface ItemIntake {
  /** What would become of the item. `key` is the same for items that are one. Stores nothing. */
  examine(webhook: Webhook, item: ListedItem): Promise<TakenItem & { key: string }>;
  /** `seed` fixes the Event ID. */
  take(webhook: Webhook, item: ListedItem, seed: string): Promise<TakenItem | NotNow>;
}

export function createItemIntake(parts: ReconcileItemParts): ItemIntake {
  return {
    async examine(webhook, item) {
      if (item.fault !== undefined) return { kind: "failed", message: item.fault, key: `fault:${item.id}` };
      const { received, event } = await read(parts, webhook, item, null);
      if (event instanceof Refusal) return { kind: "failed", message: event.message, key: `failed:${bodyKeyOf(item.body)}` };
      const { key } = event;
      return { kind: (await knownEvent(parts, received, item, event)) === null ? "recovered" : "seen", key };
    },
    take: (webhook, item, seed) => take(parts, webhook, item, seed),
  };
}

/** What the transform made of the item, with the key by which it is known. */
interface ReadEvent extends MadeEvent {
  key: string;
  /** Its event has an id of its own. */
  hasId: boolean;
}

async function take(parts: ReconcileItemParts, webhook: Webhook, item: ListedItem, seed: string): Promise<TakenItem | NotNow> {
  if (item.fault !== undefined) return { kind: "failed", message: item.fault };
  const { received, event, transformed } = await read(parts, webhook, item, seed);
  if (event instanceof Refusal || !transformed) return refuseOnce(parts, received, item, transformed, event as Refusal);
  const parsed = parseEventIdSeed(seed);
  const ownId = parsed && seededEventId(parsed, 1);
  const known = await knownEvent(parts, received, item, event);
  if (known !== null) return { kind: known === ownId ? "recovered" : "seen" };
  const full = parts.disk?.reserve(received.bytes.length);
  if (full) throw new Error(full.message);
  const made = { environment: event.environment, event: { ...event.event, dedupId: event.key } };
  const kept = await storeMade(parts, received, { transformed, made }, null);
  if (kept instanceof Refusal && kept.status >= SERVER_FAULTS) throw new Error(kept.message);
  if (kept instanceof Refusal && isOverSoon(kept)) return { kind: "not now", message: kept.message };
  if (kept instanceof Refusal) return { kind: "failed", message: kept.message };
  return { kind: kept.ids[0] === ownId ? "recovered" : "seen" };
}

async function read(parts: ReconcileItemParts, webhook: Webhook, item: ListedItem, seed: string | null) {
  const request = requestOf(webhook, item, seed);
  const target = targetOf(parts.directory, webhook);
  const bytes = Buffer.from(item.body);
  const bytesMax = bytesMaxOf(parts, webhook, request);
  const seen = seenRequest(parts, request, target);
  const received: Received = { request, target, seen, bytes, bytesMax, headers: canonicalHeaders(request.rawHeaders) };
  if (bytes.length > bytesMax) return { received, event: bodyTooLarge(bytesMax, `it has ${bytes.length}`), transformed: null };
  const { transformed, made } = await examine(parts, received, UNVERIFIED);
  if (made instanceof Refusal && made.status >= SERVER_FAULTS) throw new Error(made.message);
  const event =
    made instanceof Refusal ? made : { ...made, key: made.event.dedupId ?? ownKey(webhook, item), hasId: made.event.dedupId !== null };
  return { received, event, transformed };
}

/** The event that the item was before; null: it is new. */
async function knownEvent(
  { store, dedupWindow, now }: ReconcileItemParts,
  { seen: { webhook } }: Received,
  item: ListedItem,
  { environment, key, hasId }: ReadEvent,
): Promise<EventId | null> {
  const environmentId = environment.id;
  const { events } = await store.eventList({ environmentId, dedupId: key, internal: false, limit: 1 });
  if (events[0]) return events[0].id;
  const first = await store.dedupKeyFind({ environmentId, dedupId: key, since: dedupWindow.duplicateSince(now()) });
  if (first !== null || hasId) return first;
  // A request that was received has no item id: it is known by its body.
  const body = { bodyKey: bodyKeyOf(item.body), isAccepted: true, isReceived: item.id !== null };
  const record = await store.webhookRequestWithBody({ environmentId: webhook.environmentId, webhookId: webhook.id, ...body });
  if (!record || record.eventId === null) return null;
  const stored = await store.eventGet({ environmentId: record.deliveredTo as Environment["id"], id: record.eventId });
  return stored?.id ?? null;
}

/**
 * A refused item is listed again by each pass: it is recorded once for each version of the transform, under its key, so that a replay is
 * known as the item. One whose request was received and refused is on record already: replaying both would make two events.
 */
async function refuseOnce(
  parts: ReconcileItemParts,
  { seen }: Received,
  item: ListedItem,
  transformed: Parameters<typeof refuse>[2],
  refused: Refusal,
): Promise<TakenItem> {
  const { webhook } = seen;
  const bodyKey = ownKey(webhook, item);
  const ofWebhook = { environmentId: webhook.environmentId, webhookId: webhook.id, isAccepted: false };
  const before = await parts.store.webhookRequestWithBody({ ...ofWebhook, bodyKey, isReceived: false });
  const isRecorded = before?.outcome === refused.code && before.transformVersion === webhook.version;
  const received = { ...ofWebhook, bodyKey: bodyKeyOf(item.body), isReceived: true };
  if (!isRecorded && (await parts.store.webhookRequestWithBody(received)) === null) {
    const recorded = await refuse(parts, seen, transformed, { refused, bodyKey });
    if (recorded.status >= SERVER_FAULTS) throw new Error(recorded.message);
  }
  return { kind: "failed", message: refused.message };
}

function ownKey({ id }: Webhook, item: ListedItem): string {
  const key = item.id === null ? `body:${bodyKeyOf(item.body)}` : `item:${item.id}`;
  return key.length <= ID_UNITS_MAX ? `${id}:${key}` : `${id}:hash:${createHash("sha256").update(key).digest("base64url")}`;
}

function requestOf({ token }: Webhook, { body, headers }: ListedItem, seed: string | null): InboundRequest {
  const byName: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) byName[name.toLowerCase()] ??= value;
  return {
    method: "POST",
    target: `/e/${token}`,
    keyText: token,
    query: "",
    headers: { ...byName, ...(seed !== null && { [EVENT_ID_SEED_HEADER]: seed }) },
    rawHeaders: headers.flat(),
    ip: NO_ADDRESS,
    readBody: () => Promise.resolve(Buffer.from(body)),
    memory: UNCOUNTED,
    isReconciled: true,
    isTakenAgain: true,
  };
}

function targetOf(directory: Directory, webhook: Webhook): WebhookTarget {
  const target = directory.webhookWithToken(webhook.token);
  if (!target) throw new Error(`webhook ${webhook.id} has no URL`);
  return target;
}
