/**
 * The life of a request to a webhook, from its body to its event:
 *
 *   closed? address?  →  handshake  →  verify  →  transform  →  names, environment  →  store  →  answer
 *
 * Every request whose body was read, or is too large, is recorded, including refused ones and handshakes. The handshake is the only user code that runs before `verify`.
 * What a provider lists (reconcile-item.ts) is transformed and stored in the same way, without handshake and verification.
 */

import {
  canonicalHeaders,
  type EnvironmentId,
  type EventIdGenerator,
  parseQuery,
  Refusal,
  type SentEvent,
  type WebhookId,
  type WebhookRequestId,
} from "@inlet/protocol";
import { maskingFor, maskRefusal } from "../observe/mask-credentials.ts";
import type { Metrics } from "../observe/metrics/metrics.ts";
import type { Usage } from "../observe/usage.ts";
import { bodyKeyOf, type Ending, type SeenRequest, type SeenTransform, seenBody, webhookRecord } from "../observe/webhook-record.ts";
import { ABORTED, overloaded } from "../receive/bodies/read-body.ts";
import type { InboundRequest, ReceiveOutcome, RequestSpan } from "../receive/inbound-request.ts";
import { mirrorTargets } from "../receive/mirror-targets.ts";
import { isOverSoon } from "../receive/quotas/quota-refusal.ts";
import { routeWebhook } from "../receive/route-webhook.ts";
import { checkNames } from "../receive/senders/check-names.ts";
import type { Directory, WebhookTarget } from "../receive/senders/directory.ts";
import { ipAllowed } from "../receive/senders/ip-list.ts";
import { webhookUrls } from "../receive/webhook-urls.ts";
import {
  type Environment,
  type EventAppendResult,
  type EventBatch,
  type HandedOver,
  type NewEvent,
  reconciledSource,
  type Store,
  StoreUnavailable,
  type Webhook,
  type WebhookRequestStore,
  type WebhookStore,
} from "../store/contract/index.ts";
import { type Authentication, authenticateRequest, type TransformRunner, transformRequest } from "../transform/index.ts";

export interface WebhookLifeParts {
  directory: Directory;
  bodyBytesMax: number;
  transforms: TransformRunner;
  maskedHeaders: ReadonlySet<string>;
  /** Of the service, for signatures over the URL; null: the address that the client connected to. */
  publicUrl: string | null;
  store: WebhookRequestStore & WebhookStore & Pick<Store, "storeDatabaseOf">;
  catalogue: CataloguePart;
  /** Whether there is room for a body of this size. Null: the disk has no budget. */
  disk: { reserve(bytes: number): Refusal | null } | null;
  eventIds: EventIdGenerator;
  metrics: Metrics | null;
  usage: Pick<Usage, "note">;
  now: () => number;
  /** Copies what was noted to be mirrored. */
  mirror: { wake(): void };
  keep(batch: Omit<EventBatch, "duplicateSince" | "lease">, span: RequestSpan | undefined): Promise<EventAppendResult | Refusal>;
  identified(event: CheckedEvent, request: InboundRequest, receivedAt: number): NewEvent;
  isSeeded(request: InboundRequest): boolean;
}

/** Checks events against the schemas declared for their names: returns them, marked if so configured, or refuses them. */
export interface CataloguePart {
  checkAll(environmentId: EnvironmentId, events: readonly SentEvent[]): readonly CheckedEvent[] | Refusal;
}

export type CheckedEvent = SentEvent & Pick<NewEvent, "schemaErrors">;

/** A request in progress: its data, and whether it was verified. */
export interface Received {
  request: InboundRequest;
  target: WebhookTarget;
  seen: SeenRequest;
  bytes: Buffer;
  bytesMax: number;
  /** By canonical name. */
  headers: Record<string, string>;
}

/** Of an item that a provider lists, which has no signature. */
export const UNVERIFIED: Authentication = { isVerified: false, logs: [], durationMs: 0 };

export async function fromWebhook(parts: WebhookLifeParts, request: InboundRequest, target: WebhookTarget): Promise<ReceiveOutcome> {
  const { webhook } = target;
  if (webhook.deletedAt !== null) return webhookClosed();
  if (!request.memory.isFor(parts.store.storeDatabaseOf(webhook.environmentId))) return overloaded();
  const bytesMax = bytesMaxOf(parts, webhook, request);
  const bytes = await request.readBody(bytesMax);
  if (bytes === ABORTED) return bytes;
  const seen = seenRequest(parts, request, target);
  const refusal = bytes instanceof Refusal ? bytes : parts.disk?.reserve(bytes.length);
  if (bytes instanceof Refusal || refusal) return refuse(parts, seen, null, { refused: refusal as Refusal });
  const received = { request, target, seen, bytes, bytesMax, headers: canonicalHeaders(seen.rawHeaders) };
  const shut = closedFor(target, seen);
  if (shut) return refuse(parts, seen, unread(received), { refused: shut });
  if (request.isReconciled) return toEvent(parts, received, UNVERIFIED, null);
  const authentication = await authenticateRequest(parts.transforms, authenticateParams(parts, received));
  const verifiedAt =
    webhook.verify && (authentication.isVerified || authentication.fault) ? (request.receipt?.at ?? seen.receivedAt) : null;
  if (authentication.refused) {
    const refused = masked(parts, seen, authentication.refused);
    return refuse(parts, seen, halted(received, authentication), { refused, verifiedAt });
  }
  if (authentication.answer) return shake(parts, received, authentication);
  return toEvent(parts, received, authentication, verifiedAt);
}

/** The limit of the environment that the request is delivered to. */
export function bytesMaxOf({ directory, bodyBytesMax }: WebhookLifeParts, webhook: Webhook, request: InboundRequest): number {
  const environment = routeWebhook(directory, webhook, request);
  // One that is archived gets no event: the request is recorded at home.
  const limiting = environment instanceof Refusal ? directory.environment(webhook.environmentId) : environment;
  return limiting?.bodyBytesMax ?? bodyBytesMax;
}

/** Passes the body to the transform, and its result to an environment. */
async function toEvent(
  parts: WebhookLifeParts,
  received: Received,
  authentication: Authentication,
  verifiedAt: number | null,
): Promise<ReceiveOutcome> {
  const { seen, request } = received;
  const { webhook } = seen;
  const { transformed, made: examined } = await examine(parts, received, authentication);
  if (examined instanceof Refusal) {
    const bodyKey = request.itemKey ?? (transformed.body ? bodyKeyOf(transformed.body.raw) : null);
    return refuse(parts, seen, transformed, { refused: examined, verifiedAt, bodyKey });
  }
  const { answer } = webhook;
  const made = { ...examined, event: { ...examined.event, dedupId: examined.event.dedupId ?? request.itemKey ?? null } };
  const kept = await storeMade(parts, received, { transformed, made }, verifiedAt);
  return kept instanceof Refusal || !answer ? kept : { ...kept, answer };
}

/** What a request becomes: an event and its environment, or a refusal. */
export interface Examined<Made = MadeEvent | Refusal> {
  transformed: SeenTransform;
  made: Made;
}

export interface MadeEvent {
  event: CheckedEvent;
  environment: Environment;
}

/** Runs the transform and every check that follows it. Stores nothing. */
export async function examine(parts: WebhookLifeParts, received: Received, authentication: Authentication): Promise<Examined> {
  const { result, ...transformed } = await transform(parts, received, authentication);
  const made = result instanceof Refusal ? result : check(parts, received, result);
  return { transformed, made: made instanceof Refusal ? masked(parts, received.seen, made) : made };
}

function check(parts: WebhookLifeParts, { request, seen: { webhook } }: Received, event: SentEvent): MadeEvent | Refusal {
  const environment = checkNames(webhook.eventNames, [event]) ?? routeWebhook(parts.directory, webhook, request);
  if (environment instanceof Refusal) return environment;
  const checked = parts.catalogue.checkAll(environment.id, [event]);
  return checked instanceof Refusal ? checked : { event: checked[0] as CheckedEvent, environment };
}

/** Whoever logs, records, lists or answers a refusal gets it without the secrets that user code saw. */
function masked({ maskedHeaders }: WebhookLifeParts, seen: SeenRequest, refused: Refusal): Refusal {
  return maskRefusal(refused, maskingFor(seen, maskedHeaders));
}

/** Stores the event that a request became, with the record of the request. */
export async function storeMade(
  parts: WebhookLifeParts,
  { request, seen, bytes }: Received,
  { transformed, made: { event, environment } }: Examined<MadeEvent>,
  verifiedAt: number | null,
): Promise<EventAppendResult | Refusal> {
  const { webhook } = seen;
  const { answer } = webhook;
  const ending: Ending = {
    refused: null,
    deliveredTo: environment.id,
    verifiedAt,
    bodyKey: event.dedupId === null && transformed.body ? bodyKeyOf(transformed.body.raw) : null,
    ...(answer && { status: answer.status }),
  };
  const targets = request.receipt ? [] : mirrorTargets(webhook, parts.directory.environments(), event.dedupId ?? seen.id);
  const batch = {
    environmentId: environment.id,
    receivedAt: seen.receivedAt,
    source: seen.isReconciled ? reconciledSource(webhook.id) : ({ kind: "webhook", id: webhook.id } as const),
    idsFromSender: parts.isSeeded(request),
    bodyBytes: bytes.length,
    events: [parts.identified(event, request, seen.receivedAt)],
    webhookRequest: webhookRecord(seen, transformed, ending, parts.maskedHeaders),
    ...(targets.length > 0 && { mirror: { webhookId: webhook.id, targets: targets.map(({ id }) => id) } }),
  };
  const kept = await parts.keep(batch, request.span);
  if (kept instanceof Refusal && request.isTakenAgain && isOverSoon(kept)) return kept;
  // Without its body: a sender that goes on over the quota would fill the store.
  if (kept instanceof Refusal && kept.code === "quota_exceeded")
    return refuse(parts, seen, { ...transformed, body: null }, { refused: kept, verifiedAt });
  noteRequest(parts, environment.id, webhook.id, kept instanceof Refusal ? kept.code : "accepted", transformed.durationMs);
  if (targets.length > 0) parts.mirror.wake();
  return kept;
}

async function transform(
  parts: WebhookLifeParts,
  { request, target, seen, bytes, bytesMax, headers }: Received,
  authentication: Authentication,
): Promise<SeenTransform & { result: SentEvent | Refusal }> {
  const { webhook } = target;
  const transforming = request.span?.begin("transform");
  const { result, body, logs, durationMs } = await transformRequest(parts.transforms, {
    versionKey: target.versionKey,
    owner: { webhook: webhook.id, environment: String(webhook.environmentId) },
    transform: webhook.transform,
    bytes: authentication.bytes ?? bytes,
    bytesMax,
    memory: request.memory,
    contentType: seen.contentType,
    headers,
    queryParams: parseQuery(seen.query),
  });
  transforming?.end(result instanceof Refusal ? result.code : undefined);
  return {
    result,
    body: seenBody(bytes, body),
    logs: [...authentication.logs, ...logs],
    durationMs: authentication.durationMs + durationMs,
  };
}

/** A handshake creates no event. A secret that the provider sent is stored before it is accepted. */
async function shake(parts: WebhookLifeParts, received: Received, authentication: Authentication): Promise<ReceiveOutcome> {
  const { seen } = received;
  const { answer, handedOver } = authentication;
  if (!answer) throw new Error("a handshake without a response is none");
  try {
    const refused = handedOver === undefined ? null : await keepHandedOver(parts, seen.webhook.id, handedOver);
    if (refused) return refuse(parts, seen, halted(received, authentication), { refused });
    const ending: Ending = { refused: null, outcome: "handshake", status: answer.status, deliveredTo: seen.webhook.environmentId };
    await parts.store.webhookRequestInsert(webhookRecord(seen, halted(received, authentication), ending, parts.maskedHeaders));
    noteRequest(parts, seen.webhook.environmentId, seen.webhook.id, "handshake", null);
    return { handshake: answer };
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return storeUnavailable();
  }
}

async function keepHandedOver({ store, directory, now }: WebhookLifeParts, id: WebhookId, handedOver: HandedOver): Promise<Refusal | null> {
  const webhook = directory.webhooks().find((candidate) => candidate.id === id);
  const isKnown = (known = webhook) => [...(known?.secrets.verify ?? []), ...(known?.secrets.handshake ?? [])].includes(handedOver.secret);
  if (!webhook) return webhookClosed();
  if (isKnown()) return null;
  const { environmentId } = webhook;
  const changed = await store.webhookUpdate({ environmentId, id, changes: { handedOver }, updatedAt: now() });
  await directory.refresh();
  return isKnown(changed ?? undefined)
    ? null
    : new Refusal(
        "signature_invalid",
        "A secret was handed over before, or the handshake was changed. Set the webhook's handshake again to accept another one.",
      );
}

export async function refuse(
  parts: WebhookLifeParts,
  seen: SeenRequest,
  transformed: SeenTransform | null,
  ending: Pick<Ending, "refused" | "verifiedAt" | "bodyKey"> & { refused: Refusal },
): Promise<Refusal> {
  noteRequest(parts, seen.webhook.environmentId, seen.webhook.id, ending.refused.code, transformed?.durationMs || null);
  try {
    const whole = { ...ending, deliveredTo: seen.webhook.environmentId };
    await parts.store.webhookRequestInsert(webhookRecord(seen, transformed, whole, parts.maskedHeaders));
    return ending.refused;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return storeUnavailable();
  }
}

/** `transformMs` is null if no transform ran. */
function noteRequest(
  { metrics, usage }: WebhookLifeParts,
  environmentId: EnvironmentId,
  id: WebhookId,
  outcome: string,
  transformMs: number | null,
): void {
  metrics?.webhookRequest(environmentId, outcome, transformMs);
  if (transformMs !== null) usage.note(environmentId, { kind: "webhook", id }, { transformMs });
}

export function seenRequest(parts: WebhookLifeParts, request: InboundRequest, { webhook }: WebhookTarget): SeenRequest {
  const receivedAt = parts.now();
  return {
    id: `req_${parts.eventIds.next(receivedAt)}` as WebhookRequestId,
    webhook,
    method: request.method,
    receivedAt,
    ip: request.ip,
    rawHeaders: request.rawHeaders,
    query: request.query,
    contentType: request.headers["content-type"],
    isReconciled: request.isReconciled ?? false,
  };
}

function authenticateParams(parts: WebhookLifeParts, { request, target, seen, bytes, bytesMax, headers }: Received) {
  const { webhook } = target;
  return {
    rules: webhook,
    owner: { webhook: webhook.id, environment: String(webhook.environmentId) },
    method: request.method,
    bytes,
    bytesMax,
    headers,
    memory: request.memory,
    contentType: seen.contentType,
    contentEncoding: request.headers["content-encoding"],
    query: seen.query,
    urls: webhook.verify ? webhookUrls(parts, request, target) : [],
    receipt: request.receipt ?? { at: seen.receivedAt, wasVerified: null },
  };
}

/** A request to a closed webhook, or from a denied address, is recorded in full, but no user code runs for it. */
function unread({ bytes }: Received): SeenTransform {
  return { body: seenBody(bytes, null), logs: [], durationMs: 0 };
}

function halted({ bytes }: Received, { logs, durationMs }: Pick<Authentication, "logs" | "durationMs">): SeenTransform {
  return { body: seenBody(bytes, null), logs, durationMs };
}

function closedFor({ webhook, isOpen }: WebhookTarget, { ip, isReconciled }: SeenRequest): Refusal | null {
  if (!isOpen) return webhookClosed();
  return isReconciled || ipAllowed(webhook.ips, ip) ? null : ipDenied(ip);
}

function webhookClosed(): Refusal {
  return new Refusal("webhook_not_found", "This webhook is disabled or deleted, or its URL was changed.");
}

export function ipDenied(ip: string): Refusal {
  return new Refusal("ip_denied", `The IP list of this key or webhook does not allow the address ${ip}.`);
}

export function storeUnavailable(): Refusal {
  return new Refusal("store_unavailable", "The store is not available, and nothing was stored: try again in a moment.");
}
