/** How events are accepted, over HTTP and again: the attempts of senders, the life of an event, its copies, and replays of requests. */

import type { EnvironmentId, EventIdGenerator, Refusal } from "@inlet/protocol";
import { readProviderTemplates } from "@inlet/providers";
import type { Logger } from "pino";
import { AttemptBudget } from "../api/access/attempt-budget.ts";
import type { Catalogue } from "../catalogue/catalogue.ts";
import type { Config } from "../config/config.ts";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import { createDrill } from "../flows/drill/drill-webhook.ts";
import { createEventLife, createSendEvents, type EventLife, type SendEvents, webhookLifeParts } from "../flows/event-life.ts";
import { EventMirror } from "../flows/mirror-events.ts";
import { createItemIntake, type ItemIntake } from "../flows/reconcile-item.ts";
import { createAddressTrust, readTrustedAddresses } from "../flows/trusted-addresses.ts";
import type { DiskGuard } from "../maintenance/disk-guard.ts";
import type { Accepted, Answered } from "../receive/inbound-request.ts";
import { QuotaLedger } from "../receive/quotas/quota-ledger.ts";
import { replayRequest } from "../receive/replay-request.ts";
import type { Directory } from "../receive/senders/directory.ts";
import type { Store, Webhook, WebhookRequest } from "../store/contract/index.ts";
import type { TransformRunner } from "../transform/index.ts";
import type { Functions } from "./functions.ts";
import type { Observation } from "./observation.ts";

/** Senders with a wrong key keep sending, often many from one address: they have more attempts than a person who signs in. */
const SENDER_LIMITS = { failuresMax: 100, forgivenEveryMs: 1_000 };

export interface ReceivingParts {
  config: Config;
  store: Store;
  directory: Directory;
  functions: Functions;
  transforms: TransformRunner;
  catalogue: Catalogue;
  observation: Observation;
  dedupWindow: DedupWindow;
  /** Null without a disk budget. */
  disk: DiskGuard | null;
  /** The environment of requests that name none. */
  defaultEnvironment: string;
  ids: EventIdGenerator;
  log: Logger;
  now: () => number;
}

export interface Receiving {
  /** Reads what the first request needs: what was used of the quotas, and who is trusted. */
  load(): Promise<void>;
  /** Attempts of people who sign in, and of REST clients. */
  attempts: AttemptBudget;
  quotas: QuotaLedger;
  mirror: EventMirror;
  receive: EventLife;
  /** Accepts events that people send through the REST API. */
  sendEvents: SendEvents;
  /** Accepts a recorded request of a webhook again. */
  replay(record: WebhookRequest, webhook: Webhook, seed?: string): Promise<Accepted | Answered | Refusal>;
  /** Sends sample requests to a webhook, as its provider would. */
  drill: ReturnType<typeof createDrill>;
  /** Takes what a provider lists. */
  intake: ItemIntake;
}

export function createReceiving(parts: ReceivingParts): Receiving {
  const { config, store, directory, functions, transforms, catalogue, observation, dedupWindow, disk, defaultEnvironment, ids, log, now } =
    parts;
  const { refusals, traffic, activity, usage, metrics, liveLog, telemetry } = observation;
  const { attempts, senderAttempts, restoreTrust } = createAttemptBudgets(parts);
  const isMirroring = () => directory.webhooks().some(({ mirror, deletedAt }) => mirror !== null && deletedAt === null);
  const quotas = new QuotaLedger({ store, directory, log, now });
  const environmentName = (id: EnvironmentId) => directory.environment(id)?.name ?? String(id);
  const mirror = new EventMirror({ store, functions, catalogue, dedupWindow, quotas, log, now, isMirroring, environmentName });
  const eventLife = {
    directory,
    functions,
    transforms,
    catalogue,
    mirror,
    dedupWindow,
    store,
    refusals,
    traffic,
    activity,
    quotas,
    usage,
    metrics,
    disk,
    defaultEnvironment,
    liveLog,
    now,
    publicUrl: config.publicUrl,
    maskedHeaders: new Set(config.maskHeaders.map((name) => name.toLowerCase())),
    senders: { directory, placeholderEnvironment: config.mode === "dev" ? defaultEnvironment : null, attempts: senderAttempts },
    bodyBytesMax: config.bodyLimit,
    tracing: telemetry?.tracing ?? null,
    eventIds: ids,
  };
  const receive = createEventLife(eventLife);
  const replay: Receiving["replay"] = (record, webhook, seed) =>
    replayRequest(receive, record, webhook.token, seed) as Promise<Accepted | Answered | Refusal>;
  let templates: ReturnType<typeof readProviderTemplates> | null = null;
  const providers = () => {
    templates ??= readProviderTemplates();
    return templates;
  };
  const drill = createDrill({ store, receive, publicUrl: config.publicUrl, providers });
  const intake = createItemIntake({ ...webhookLifeParts(eventLife), store, directory, dedupWindow });
  const load = async () => void (await Promise.all([restoreTrust(), quotas.load()]));
  return { load, attempts, quotas, mirror, receive, sendEvents: createSendEvents(eventLife), replay, drill, intake };
}

function createAttemptBudgets({ store, directory, log, now }: ReceivingParts) {
  const keep = createAddressTrust({ store, workingKey: (id) => directory.workingKey(id), log, now });
  const attempts = new AttemptBudget({ now, keep });
  const senderAttempts = new AttemptBudget({ now, keep, limits: SENDER_LIMITS });
  async function restoreTrust(): Promise<void> {
    const proofs = await readTrustedAddresses(store);
    for (const budget of [attempts, senderAttempts]) budget.restore(proofs);
  }
  return { attempts, senderAttempts, restoreTrust };
}
