/**
 * The life of an event, stage by stage: the table of contents of the service. Every exit is a value: accepted, or refused
 * with a code from the catalogue.
 *
 *   receive  →  transform (webhooks)  →  deduplicate  →  fan out  →  store  →  execute, observe
 *
 * Only this file and service.ts know all stages.
 */

import {
  canonicalHeaders,
  type EnvironmentId,
  EVENT_ID_SEED_HEADER,
  type EventIdGenerator,
  type EventIdSeed,
  KEY_UNITS_MAX,
  parseEventIdSeed,
  parseQuery,
  Refusal,
  RUN_HEADER,
  SDK_HEADERS,
  type SentEvent,
  seededEventId,
  type WebhookRequestId,
} from "@inlet/protocol";
import type { DedupWindow } from "./deduplicate/dedup-window.ts";
import type { LiveLog } from "./observe/live-log.ts";
import type { Metrics } from "./observe/metrics/metrics.ts";
import type { RefusalLog } from "./observe/refusal-log.ts";
import type { Traffic } from "./observe/traffic.ts";
import { type SeenRequest, type SeenTransform, seenBody, webhookRecord } from "./observe/webhook-record.ts";
import { contentTypeRefusal } from "./receive/bodies/event-content-type.ts";
import { parseEvents } from "./receive/bodies/parse-events.ts";
import { ABORTED } from "./receive/bodies/read-body.ts";
import type { Answer, InboundRequest } from "./receive/inbound-request.ts";
import { routeWebhook } from "./receive/route-webhook.ts";
import { checkNames } from "./receive/senders/check-names.ts";
import type { Directory, WebhookTarget } from "./receive/senders/directory.ts";
import { environmentConcerned } from "./receive/senders/environment-concerned.ts";
import { identifySender, type SenderRules } from "./receive/senders/identify-sender.ts";
import { ipAdmitted } from "./receive/senders/ip-list.ts";
import {
  type ClaimedEntry,
  type EventAppendResult,
  type EventBatch,
  type EventSource,
  type EventStore,
  type Lease,
  type NewEvent,
  StoreUnavailable,
  type WebhookRequestStore,
} from "./store/contract/index.ts";
import { type TransformRunner, transformRequest } from "./transform/index.ts";

export interface EventLifeParts {
  senders: SenderRules;
  directory: Directory;
  bodyBytesMax: number;
  transforms: TransformRunner;
  maskedHeaders: ReadonlySet<string>;
  dedupWindow: DedupWindow;
  store: EventStore & WebhookRequestStore;
  functions: FunctionsPart;
  refusals: RefusalLog;
  traffic: Traffic;
  /** Null: nobody reads them. */
  metrics: Metrics | null;
  defaultEnvironment: string;
  /** Null: nobody watches. */
  liveLog: LiveLog | null;
  eventIds: EventIdGenerator;
  now: () => number;
}

/** What an event starts, and who takes it up once it is on disk. */
export interface FunctionsPart {
  plan(environmentId: EnvironmentId, event: NewEvent, now: number): NewEvent;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  /** The function whose run of this environment sends an event; null when there is no such run. */
  sourceOfRun(environmentId: EnvironmentId, runId: string): Promise<EventSource | null>;
}

export type EventLife = (request: InboundRequest) => Promise<Answer>;

export function createEventLife(parts: EventLifeParts): EventLife {
  return async (request) => {
    if (request.keyText.length > KEY_UNITS_MAX) return keyTooLong(parts);
    const webhook = parts.directory.webhookWithToken(request.keyText);
    const outcome = await (webhook ? fromWebhook(parts, request, webhook) : fromClient(parts, request));
    if (outcome instanceof Refusal) {
      noteRefusal(parts, request, outcome);
      parts.liveLog?.refused(outcome);
    }
    return outcome;
  };
}

/** Refused before any work: no key and no token is as long. */
function keyTooLong({ refusals, metrics }: EventLifeParts): Refusal {
  const refused = new Refusal("event_key_invalid", `An event key has at most ${KEY_UNITS_MAX} characters.`);
  refusals.note(refused.code);
  metrics?.refused(null, refused.code);
  return refused;
}

/** The Event API: the body holds the events themselves. */
async function fromClient(parts: EventLifeParts, request: InboundRequest): Promise<Answer> {
  const sender = identifySender(parts.senders, request);
  if (sender instanceof Refusal) return sender;
  if (sender.key?.ips && !ipAdmitted(sender.key.ips, request.ip)) return ipDenied(request.ip);

  const body = await request.readBody(sender.environment.bodyBytesMax ?? parts.bodyBytesMax);
  if (body === ABORTED || body instanceof Refusal) return body;

  const events = contentTypeRefusal(request.headers["content-type"], body) ?? parseEvents(body, { dataOptional: isFromSdk(request) });
  if (events instanceof Refusal) return events;
  const denied = checkNames(sender.key?.eventNames ?? null, events);
  if (denied) return denied;

  const runId = request.headers[RUN_HEADER];
  const fromRun = typeof runId === "string" ? await parts.functions.sourceOfRun(sender.environment.id, runId) : null;
  const seed = seedOf(request);
  const receivedAt = parts.now();
  return await keep(parts, {
    environmentId: sender.environment.id,
    receivedAt,
    source: fromRun ?? sender.source,
    idsFromSender: seed !== null,
    events: events.map((event, index) => identified(parts, event, seed, index, receivedAt)),
  });
}

/** Published SDKs and ours name themselves. */
function isFromSdk({ headers }: InboundRequest): boolean {
  return SDK_HEADERS.some((name) => headers[name] !== undefined);
}

/** A webhook: the body is the provider's own, and the transform makes the event. Every request is recorded, refused ones too. */
async function fromWebhook(parts: EventLifeParts, request: InboundRequest, target: WebhookTarget): Promise<Answer> {
  const { webhook } = target;
  if (webhook.deletedAt !== null) return webhookClosed();
  const scope = parts.directory.environment(webhook.environmentId);
  const bytesMax = scope?.bodyBytesMax ?? parts.bodyBytesMax;
  const bytes = await request.readBody(bytesMax);
  if (bytes === ABORTED) return bytes;

  const receivedAt = parts.now();
  const seen: SeenRequest = {
    id: `req_${parts.eventIds.next(receivedAt)}` as WebhookRequestId,
    webhook,
    receivedAt,
    ip: request.ip,
    rawHeaders: request.rawHeaders,
    query: request.query,
    contentType: request.headers["content-type"],
  };
  const transformed = bytes instanceof Refusal ? null : await transform(parts, request, target, seen, bytes, bytesMax);
  const event = transformed?.result ?? (bytes as Refusal);
  if (event instanceof Refusal) return refuse(parts, seen, transformed, event);
  const denied = checkNames(webhook.eventNames, [event]);
  const environment = denied ?? routeWebhook(parts.directory, webhook, request);
  if (environment instanceof Refusal) return refuse(parts, seen, transformed, environment);

  const seed = seedOf(request);
  const kept = await keep(parts, {
    environmentId: environment.id,
    receivedAt,
    source: { kind: "webhook", id: webhook.id },
    idsFromSender: seed !== null,
    events: [identified(parts, event, seed, 0, receivedAt)],
    webhookRequest: webhookRecord(seen, transformed, { refused: null, deliveredTo: environment.id }, parts.maskedHeaders),
  });
  parts.metrics?.webhookRequest(environment.id, kept instanceof Refusal ? kept.code : "accepted", transformed?.durationMs ?? null);
  return kept;
}

/** What a closed webhook or a refused address was sent is recorded in full, but no code is run for it. */
async function transform(
  parts: EventLifeParts,
  request: InboundRequest,
  { webhook, isOpen, versionKey }: WebhookTarget,
  seen: SeenRequest,
  bytes: Buffer,
  bytesMax: number,
): Promise<SeenTransform & { result: SentEvent | Refusal }> {
  const shut = isOpen ? (ipAdmitted(webhook.ips, seen.ip) ? null : ipDenied(seen.ip)) : webhookClosed();
  const contentEncoding = request.headers["content-encoding"];
  if (shut) return { result: shut, body: seenBody(bytes, null, contentEncoding), logs: [], durationMs: 0 };
  const { result, body, logs, durationMs } = await transformRequest(parts.transforms, {
    versionKey,
    owner: { webhook: webhook.id, environment: String(webhook.environmentId) },
    transform: webhook.transform,
    bytes,
    bytesMax,
    memory: request.memory,
    contentType: seen.contentType,
    contentEncoding,
    headers: canonicalHeaders(seen.rawHeaders),
    queryParams: parseQuery(seen.query),
  });
  return { result, body: seenBody(bytes, body, contentEncoding), logs, durationMs };
}

async function refuse(parts: EventLifeParts, seen: SeenRequest, transformed: SeenTransform | null, refused: Refusal): Promise<Refusal> {
  const ending = { refused, deliveredTo: seen.webhook.environmentId };
  parts.metrics?.webhookRequest(seen.webhook.environmentId, refused.code, transformed?.durationMs || null);
  try {
    await parts.store.webhookRequestInsert(webhookRecord(seen, transformed, ending, parts.maskedHeaders));
    return refused;
  } catch (error) {
    return storeTrouble(error);
  }
}

/** What the events start, the duplicate check and the events themselves are one transaction: see the store's contract. */
async function keep(parts: EventLifeParts, batch: Omit<EventBatch, "duplicateSince" | "lease">): Promise<EventAppendResult | Refusal> {
  const { store, functions, dedupWindow } = parts;
  const { environmentId, receivedAt } = batch;
  const events = batch.events.map((event) => functions.plan(environmentId, event, receivedAt));
  try {
    const duplicateSince = dedupWindow.duplicateSince(receivedAt);
    const kept = await store.eventAppend({ ...batch, events, duplicateSince, lease: functions.lease() });
    if (kept.leased.length > 0) functions.take(kept.leased);
    const started = events.reduce((sum, { id, runs }, index) => sum + (kept.ids[index] === id ? (runs?.length ?? 0) : 0), 0);
    if (started > 0) parts.traffic.note(environmentId, "runsStarted", started);
    parts.traffic.stored(environmentId, kept.ids.length - kept.duplicates, kept.duplicates);
    parts.metrics?.stored(environmentId, batch.source.kind, kept.ids.length - kept.duplicates, kept.duplicates);
    parts.liveLog?.kept(batch, kept);
    return kept;
  } catch (error) {
    return storeTrouble(error);
  }
}

function noteRefusal(
  { refusals, traffic, metrics, directory, defaultEnvironment }: EventLifeParts,
  request: InboundRequest,
  { code }: Refusal,
): void {
  refusals.note(code);
  const environmentId = environmentConcerned(directory, request, defaultEnvironment);
  if (environmentId !== null) traffic.note(environmentId, "refused");
  metrics?.refused(environmentId, code);
}

/** A sender that may send again fixes the ids of its events with a seed. */
function seedOf({ headers }: InboundRequest): EventIdSeed | null {
  const seed = headers[EVENT_ID_SEED_HEADER];
  return typeof seed === "string" ? parseEventIdSeed(seed) : null;
}

function identified(parts: EventLifeParts, event: SentEvent, seed: EventIdSeed | null, index: number, receivedAt: number): NewEvent {
  const { name, ts, dedupId, data, extras } = event;
  const id = seed ? seededEventId(seed, index + 1) : parts.eventIds.next(receivedAt);
  return { id, name, ts: ts ?? receivedAt, dedupId, data, extras };
}

function storeTrouble(error: unknown): Refusal {
  if (!(error instanceof StoreUnavailable)) throw error;
  return new Refusal("store_unavailable", "The store cannot be written right now; nothing was stored. Send again in a moment.");
}

function ipDenied(ip: string): Refusal {
  return new Refusal("ip_denied", `The address ${ip} is not let through by the lists here.`);
}

function webhookClosed(): Refusal {
  return new Refusal("webhook_not_found", "This webhook is disabled or deleted, or its URL was changed.");
}
