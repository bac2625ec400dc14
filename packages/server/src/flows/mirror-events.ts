/**
 * Copies events of webhooks to the branches they are mirrored to. Pending copies are recorded in the transaction of the event, so a
 * crash loses none. The id of a copy is derived from the event and the branch, so none is stored twice. One node of a cluster copies
 * at a time. The response to the provider does not depend on the copies. A copy that its branch refuses, such as over a quota, is dropped,
 * and the log says so.
 */

import { createHash } from "node:crypto";
import { type EnvironmentId, type ErrorCode, type EventId, Refusal, seededEventId, type WebhookId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import { inEachDatabase, mirroredSource, type PendingMirror, type Store, type StoredEvent } from "../store/contract/index.ts";
import { type AppendParts, appendWithinQuotas } from "./append-within-quotas.ts";
import type { FunctionsPart } from "./event-life.ts";
import type { CataloguePart } from "./webhook-life.ts";

/** How often a node looks for copies that other nodes recorded, and retries failed ones. */
const POLL_INTERVAL_MS = 2_000;
const LEADERSHIP_MS = 10_000;
const AT_ONCE = 50;
const ENTROPY_BYTES = 10;

export interface EventMirrorParts {
  store: Store;
  functions: Pick<FunctionsPart, "plan" | "lease" | "take">;
  catalogue: CataloguePart;
  dedupWindow: DedupWindow;
  quotas: AppendParts["quotas"];
  /** Whether any webhook mirrors: then other nodes may record copies. */
  isMirroring(): boolean;
  environmentName(id: EnvironmentId): string;
  log: Logger;
  now(): number;
}

export class EventMirror {
  readonly #parts: EventMirrorParts;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  /** There may be pending copies: initially those that a crash left. */
  #isBehind = true;
  #isStopped = false;
  /** Copies that were refused since the log last said so. */
  readonly #refused = new Map<string, { code: ErrorCode; webhook: WebhookId; environment: string; count: number }>();

  constructor(parts: EventMirrorParts) {
    this.#parts = parts;
  }

  start(): void {
    this.wake();
    this.#timer ??= setInterval(() => {
      if (this.#isBehind || this.#parts.isMirroring()) this.wake();
    }, POLL_INTERVAL_MS).unref();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    if (this.#timer) clearInterval(this.#timer);
    await this.#polling;
  }

  /** A copy was recorded. */
  wake(): void {
    this.#isBehind = true;
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = null;
    });
  }

  async #poll(): Promise<void> {
    try {
      while (this.#isBehind && !this.#isStopped) {
        this.#isBehind = false;
        if (!(await this.#copyPending())) {
          this.#isBehind = true;
          return;
        }
      }
    } catch (error) {
      this.#isBehind = true;
      this.#parts.log.warn({ err: error }, "events could not be mirrored; this is tried again");
    } finally {
      this.#logRefused();
    }
  }

  /**
   * False if something may be left: what another node with the leadership copies, what is in a database that cannot be used now, and what
   * belongs to an environment that moves. Those recorded in one database that cannot be used hold up none of the others.
   */
  async #copyPending(): Promise<boolean> {
    const { store } = this.#parts;
    let isDone = true;
    const copySome: Parameters<typeof inEachDatabase>[1] = async (...database) => {
      const outcome = await this.#copySome(...database).catch((error) => {
        isDone = false;
        throw error;
      });
      if (outcome === "left") isDone = false;
      return outcome === "copied";
    };
    while (await inEachDatabase(store, copySome));
    return isDone;
  }

  async #copySome({ mirrorList }: Store, isHeld: (row: PendingMirror) => boolean): Promise<"none" | "copied" | "left"> {
    const { store, now } = this.#parts;
    const listed = await mirrorList({ limit: AT_ONCE });
    const pending = listed.filter(isHeld);
    if (listed.length === 0) return "none";
    if (pending.length === 0 || this.#isStopped) return "left";
    const leadership = { work: "mirrors", node: store.storeNode, now: now(), until: now() + LEADERSHIP_MS };
    if (!(await store.leadershipTake(leadership))) return "left";
    for (const one of pending) await this.#copy(one);
    return "copied";
  }

  async #copy({ environmentId, eventId, webhookId, targets }: PendingMirror): Promise<void> {
    const { store } = this.#parts;
    const event = await store.eventGet({ environmentId, id: eventId });
    if (event) for (const target of targets) await this.#copyTo(target, webhookId, event);
    await store.mirrorRemove({ environmentId, eventId });
  }

  async #copyTo(environmentId: EnvironmentId, webhookId: WebhookId, event: StoredEvent): Promise<void> {
    const { store, functions, catalogue, dedupWindow, quotas } = this.#parts;
    const { receivedAt, name, ts, dedupId, data, extras, trace } = event;
    const id = copyId(event, environmentId);
    if (await store.eventGet({ environmentId, id })) return;
    const checked = catalogue.checkAll(environmentId, [{ name, ts, dedupId, data, extras }]);
    if (checked instanceof Refusal) return this.#noteRefused(environmentId, webhookId, checked);
    const copies = checked.map((one) => ({ ...one, id, ts, ...(trace !== undefined && { trace }) }));
    const kept = await appendWithinQuotas(
      { store, quotas },
      {
        environmentId,
        receivedAt,
        source: mirroredSource(webhookId),
        idsFromSender: true,
        bodyBytes: Buffer.byteLength(data),
        lease: functions.lease(),
        duplicateSince: dedupWindow.duplicateSince(receivedAt),
        events: copies.map((copy) => functions.plan(environmentId, copy, receivedAt)),
      },
    );
    // A branch over its quota gets no copy, as it gets no other event.
    if (kept instanceof Refusal) return this.#noteRefused(environmentId, webhookId, kept);
    functions.take(kept.leased);
  }

  #noteRefused(environmentId: EnvironmentId, webhook: WebhookId, { code }: Refusal): void {
    const environment = this.#parts.environmentName(environmentId);
    const key = `${code} ${webhook} ${environment}`;
    const known = this.#refused.get(key);
    this.#refused.set(key, { code, webhook, environment, count: (known?.count ?? 0) + 1 });
  }

  /** One line for each branch and code: there may be as many refusals as events. */
  #logRefused(): void {
    for (const refused of this.#refused.values()) this.#parts.log.warn(refused, "a branch refused copies of events");
    this.#refused.clear();
  }
}

function copyId({ id, receivedAt }: StoredEvent, environmentId: EnvironmentId): EventId {
  const entropy = createHash("sha256").update(`${id} ${environmentId}`).digest().subarray(0, ENTROPY_BYTES);
  return seededEventId({ timeMs: receivedAt, entropy: Uint8Array.from(entropy) }, 0);
}
