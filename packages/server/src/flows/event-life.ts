/**
 * The life of an event, stage by stage: the table of contents of the service. Every exit is a value: accepted, or refused
 * with a code from the catalogue.
 *
 *   receive  →  transform (webhooks)  →  catalogue (schemas)  →  fan out  →  deduplicate  →  quotas, store  →  execute, observe
 *
 * webhook-life.ts is the same for requests to webhooks.
 */

import {
  type EnvironmentId,
  EVENT_ID_SEED_HEADER,
  type EventIdSeed,
  KEY_UNITS_MAX,
  parseEventIdSeed,
  Refusal,
  RUN_HEADER,
  type RunId,
  readTraceparent,
  SDK_HEADERS,
  seededEventId,
  settleSessions,
  TRACEPARENT_HEADER,
} from "@inlet/protocol";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import type { Activity } from "../observe/activity.ts";
import type { LiveLog } from "../observe/live-log.ts";
import type { RefusalLog } from "../observe/refusal-log.ts";
import { RequestSpan as TracedRequest } from "../observe/telemetry/request-span.ts";
import type { Tracing } from "../observe/telemetry/tracing.ts";
import type { Traffic } from "../observe/traffic.ts";
import { contentEncodingRefusal, contentTypeRefusal } from "../receive/bodies/event-content-type.ts";
import { parseEvents } from "../receive/bodies/parse-events.ts";
import { ABORTED, bodyTooLarge, overloaded } from "../receive/bodies/read-body.ts";
import type { InboundRequest, ReceiveOutcome, RequestSpan } from "../receive/inbound-request.ts";
import type { QuotaLedger } from "../receive/quotas/quota-ledger.ts";
import { checkNames } from "../receive/senders/check-names.ts";
import { environmentConcerned, sourceConcerned } from "../receive/senders/environment-concerned.ts";
import { identifySender, type Sender, type SenderRules } from "../receive/senders/identify-sender.ts";
import { ipAllowed } from "../receive/senders/ip-list.ts";
import {
  type ClaimedEntry,
  type EventAppendResult,
  type EventBatch,
  type EventSource,
  type EventStore,
  type Lease,
  type NewEvent,
  StoreUnavailable,
} from "../store/contract/index.ts";
import { appendWithinQuotas } from "./append-within-quotas.ts";
import { type CheckedEvent, fromWebhook, ipDenied, storeUnavailable, type WebhookLifeParts } from "./webhook-life.ts";

export interface EventLifeParts extends Omit<WebhookLifeParts, "keep" | "identified" | "isSeeded"> {
  senders: SenderRules;
  dedupWindow: DedupWindow;
  store: EventStore & WebhookLifeParts["store"];
  functions: FunctionsPart;
  refusals: RefusalLog;
  traffic: Traffic;
  activity: Activity;
  quotas: QuotaLedger;
  defaultEnvironment: string;
  /** Null: there are no watchers. */
  liveLog: LiveLog | null;
  /** Null: traces are not exported. */
  tracing: Tracing | null;
}

/** What an event starts, and which node takes the work once it is on disk. */
export interface FunctionsPart {
  plan(environmentId: EnvironmentId, event: NewEvent, now: number): NewEvent;
  lease(): Lease;
  take(entries: readonly ClaimedEntry[]): void;
  /** The run of this environment that sends an event; null if there is no such run. */
  sendingRun(environmentId: EnvironmentId, runId: string): Promise<SendingRun | null>;
}

export interface SendingRun {
  id: RunId;
  /** Its function, as the source of the events it sends. */
  source: EventSource;
  /** The trace of the event that started it. */
  trace(): Promise<string | null>;
}

export type EventLife = (request: InboundRequest) => Promise<ReceiveOutcome>;

export function createEventLife(parts: EventLifeParts): EventLife {
  const webhooks = webhookLifeParts(parts);
  return async (request) => {
    if (request.keyText.length > KEY_UNITS_MAX) return keyTooLong(parts);
    if (parts.tracing) request.span = new TracedRequest({ tracing: parts.tracing, now: parts.now }, sentTrace(request));
    const webhook = parts.directory.webhookWithToken(request.keyText);
    try {
      const outcome = await (webhook ? fromWebhook(webhooks, request, webhook) : fromClient(parts, request));
      if (outcome instanceof Refusal) {
        noteRefusal(parts, request, outcome);
        parts.liveLog?.refused(outcome);
      }
      if (request.span) endSpan(request.span, outcome);
      return outcome;
    } catch (error) {
      request.span?.end({ "inlet.outcome": "internal_error" }, "A fault of the service; its log has the cause.");
      throw error;
    }
  };
}

/** What the life of a webhook request needs of the life of its event. */
export function webhookLifeParts(parts: EventLifeParts): WebhookLifeParts {
  return {
    ...parts,
    keep: (batch, span) => keep(parts, batch, span),
    identified: (event, request, receivedAt) => identified(parts, event, headersOf(request), 0, receivedAt),
    isSeeded: (request) => seedOf(request) !== null,
  };
}

/** Refused before any work: no key or token is this long. */
function keyTooLong({ refusals, metrics }: EventLifeParts): Refusal {
  const refused = new Refusal("event_key_invalid", `An event key has at most ${KEY_UNITS_MAX} characters.`);
  refusals.note(refused.code);
  metrics?.refused(null, refused.code);
  return refused;
}

/** The Event API: the body contains the events themselves. */
async function fromClient(parts: EventLifeParts, request: InboundRequest): Promise<ReceiveOutcome> {
  const sender = identifySender(parts.senders, request);
  if (sender instanceof Refusal) return sender;
  if (sender.key?.ips && !ipAllowed(sender.key.ips, request.ip)) return ipDenied(request.ip);
  if (!request.memory.isFor(parts.store.storeDatabaseOf(sender.environment.id))) return overloaded();

  const body = await request.readBody(sender.environment.bodyBytesMax ?? parts.bodyBytesMax);
  if (body === ABORTED || body instanceof Refusal) return body;

  const isSdk = isFromSdk(request);
  const { "content-type": contentType, "content-encoding": contentEncoding } = request.headers;
  const refused = contentTypeRefusal(contentType, body) ?? contentEncodingRefusal(contentEncoding);
  const checked = refused ?? check(parts, sender, body, isSdk);
  if (checked instanceof Refusal) return checked;

  request.eventCount = checked.length;
  const runId = request.headers[RUN_HEADER];
  const run = typeof runId === "string" ? await parts.functions.sendingRun(sender.environment.id, runId) : null;
  const sent = { ...headersOf(request, run && sentTrace(request) === null ? await run.trace() : null), sourceRun: run?.id };
  const receivedAt = parts.now();
  const batch = {
    environmentId: sender.environment.id,
    receivedAt,
    source: run?.source ?? sender.source,
    idsFromSender: sent.seed !== null,
    bodyBytes: body.length,
    events: checked.map((event, index) => {
      const found = identified(parts, event, sent, index, receivedAt);
      return isSdk ? { ...found, extras: settleSessions(found.extras) } : found;
    }),
  };
  return await keep(parts, batch, request.span);
}

/** The events of a body, if there is room for them and this sender may send them here. */
function check(parts: EventLifeParts, { environment, key }: Pick<Sender, "environment" | "key">, body: Buffer, dataOptional = false) {
  const full = parts.disk?.reserve(body.length);
  if (full) return full;
  const events = parseEvents(body, { dataOptional });
  if (events instanceof Refusal) return events;
  return checkNames(key?.eventNames ?? null, events) ?? parts.catalogue.checkAll(environment.id, events);
}

export type SendEvents = (sender: Pick<Sender, "environment" | "source">, body: Buffer) => Promise<EventAppendResult | Refusal>;

/** Events that somebody with a session or an API key sends through the REST API. */
export function createSendEvents(parts: EventLifeParts): SendEvents {
  const send = async ({ environment, source }: Parameters<SendEvents>[0], body: Buffer) => {
    const bytesMax = environment.bodyBytesMax ?? parts.bodyBytesMax;
    if (body.length > bytesMax) return bodyTooLarge(bytesMax, `it has ${body.length}`);
    const checked = check(parts, { environment, key: null }, body);
    if (checked instanceof Refusal) return checked;
    const receivedAt = parts.now();
    const events = checked.map((event, index) => identified(parts, event, { seed: null, trace: null }, index, receivedAt));
    return keep(
      parts,
      { environmentId: environment.id, receivedAt, source, idsFromSender: false, bodyBytes: body.length, events },
      undefined,
    );
  };
  return async (sender, body) => {
    const sent = await send(sender, body);
    if (sent instanceof Refusal) parts.usage.note(sender.environment.id, { kind: "key", id: sender.source.id }, { refused: 1 });
    return sent;
  };
}

/** Published SDKs and ours identify themselves. */
function isFromSdk({ headers }: InboundRequest): boolean {
  return SDK_HEADERS.some((name) => headers[name] !== undefined);
}

/** Duplicate check, events and what they start are one transaction: see the store's contract. */
async function keep(
  parts: EventLifeParts,
  batch: Omit<EventBatch, "duplicateSince" | "lease">,
  span: RequestSpan | undefined,
): Promise<EventAppendResult | Refusal> {
  const { functions, dedupWindow } = parts;
  const { environmentId, receivedAt } = batch;
  const events = batch.events.map((event) => functions.plan(environmentId, event, receivedAt));
  const storing = span?.begin("store");
  try {
    const duplicateSince = dedupWindow.duplicateSince(receivedAt);
    const kept = await appendWithinQuotas(parts, { ...batch, events, duplicateSince, lease: functions.lease() });
    storing?.end();
    if (kept instanceof Refusal) return kept;
    if (kept.leased.length > 0) functions.take(kept.leased);
    parts.traffic.note(environmentId, "duplicates", kept.duplicates);
    noteActivity(parts, batch, kept);
    parts.metrics?.stored(environmentId, batch.source.kind, kept.ids.length - kept.duplicates, kept.duplicates);
    parts.liveLog?.kept(batch, kept);
    return kept;
  } catch (error) {
    storing?.end("The store cannot be written.");
    return storeTrouble(error);
  }
}

/** A duplicate is no new event, but its webhook is not silent. */
function noteActivity(
  { activity }: EventLifeParts,
  { environmentId, receivedAt, events, webhookRequest }: Omit<EventBatch, "duplicateSince" | "lease">,
  { ids }: EventAppendResult,
): void {
  const names = new Set<string>();
  for (const [index, { id, name }] of events.entries()) if (ids[index] === id) names.add(name);
  for (const subject of names) activity.note({ environmentId, kind: "event", subject }, receivedAt);
  // The webhook's own environment, which may be another than the event's. What was found in a list shows no activity of its provider.
  if (!webhookRequest || webhookRequest.isReconciled) return;
  activity.note({ environmentId: webhookRequest.environmentId, kind: "webhook", subject: webhookRequest.webhookId }, receivedAt);
}

function noteRefusal(
  { refusals, traffic, usage, metrics, directory, defaultEnvironment }: EventLifeParts,
  request: InboundRequest,
  { code }: Refusal,
): void {
  refusals.note(code);
  const environmentId = environmentConcerned(directory, request, defaultEnvironment);
  if (environmentId !== null) {
    traffic.note(environmentId, "refused");
    usage.note(environmentId, sourceConcerned(directory, request), { refused: request.eventCount ?? 1 });
  }
  metrics?.refused(environmentId, code);
}

/** A sender that may retry determines the ids of its events with a seed. */
function seedOf({ headers }: InboundRequest): EventIdSeed | null {
  const seed = headers[EVENT_ID_SEED_HEADER];
  return typeof seed === "string" ? parseEventIdSeed(seed) : null;
}

/** What a request says about all of its events. */
interface RequestHeaders {
  seed: EventIdSeed | null;
  trace: string | null;
  /** The run that sends them. */
  sourceRun?: RunId | undefined;
}

/** `ofRun` is the trace of the run that sends the events, which continues if the request names none. */
function headersOf(request: InboundRequest, ofRun: string | null = null): RequestHeaders {
  return { seed: seedOf(request), trace: request.span?.traceparent(ofRun) ?? sentTrace(request) ?? ofRun };
}

function sentTrace({ headers }: InboundRequest): string | null {
  return readTraceparent(headers[TRACEPARENT_HEADER]);
}

/** A correctly refused request is not a failure of the service. */
function endSpan(span: RequestSpan, outcome: ReceiveOutcome): void {
  if (outcome === ABORTED) return span.end({ "inlet.outcome": "aborted" });
  if (outcome instanceof Refusal) return span.end({ "inlet.outcome": outcome.code }, outcome.status >= 500 ? outcome.message : undefined);
  if ("handshake" in outcome) return span.end({ "inlet.outcome": "handshake" });
  span.end({ "inlet.outcome": "accepted", "inlet.events": outcome.ids.length });
}

function identified(parts: EventLifeParts, event: CheckedEvent, sent: RequestHeaders, index: number, receivedAt: number): NewEvent {
  const { name, ts, dedupId, data, extras, schemaErrors } = event;
  const { seed, trace, sourceRun } = sent;
  const id = seed ? seededEventId(seed, index + 1) : parts.eventIds.next(receivedAt);
  const optional = {
    ...(schemaErrors !== undefined && { schemaErrors }),
    ...(trace !== null && { trace }),
    ...(sourceRun && { sourceRun }),
  };
  return { id, name, ts: ts ?? receivedAt, dedupId, data, extras, ...optional };
}

function storeTrouble(error: unknown): Refusal {
  if (!(error instanceof StoreUnavailable)) throw error;
  return storeUnavailable();
}
