/**
 * Copies events of webhooks to the branches they are mirrored to. Pending copies are recorded in the transaction of the event, so a
 * crash loses none. The id of a copy is derived from the event and the branch, so none is stored twice. One node of a cluster copies
 * at a time. The response to the provider does not depend on the copies. A copy that its branch refuses, such as over a quota, is dropped,
 * and the log says so. A copy that fails stays pending and holds up none of the others: those to other branches, and later ones to the same
 * branch unless the store is unavailable for it.
 */

import { createHash } from "node:crypto";
import { type EnvironmentId, type ErrorCode, type EventId, Refusal, seededEventId, type WebhookId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { DedupWindow } from "../deduplicate/dedup-window.ts";
import {
  inEachDatabase,
  mirroredSource,
  type PendingMirror,
  type Store,
  type StoredEvent,
  StoreUnavailable,
} from "../store/contract/index.ts";
import { type AppendParts, appendWithinQuotas } from "./append-within-quotas.ts";
import type { FunctionsPart } from "./event-life.ts";
import type { CataloguePart } from "./webhook-life.ts";

/** How often a node looks for copies that other nodes recorded, and retries failed ones. */
const POLL_INTERVAL_MS = 2_000;
const LEADERSHIP_MS = 10_000;
const LISTED_MAX = 500;
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

/** One walk through what is pending. */
interface Pass {
  /** Nothing is left but copies that failed. */
  isDone: boolean;
  /** Environments of which a copy failed. */
  failed: Set<EnvironmentId>;
  /** Branches for which the store is unavailable: their copies wait for a later pass, so that they stay in order. */
  unavailable: Set<EnvironmentId>;
}

export class EventMirror {
  readonly #parts: EventMirrorParts;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;
  /** There may be pending copies: initially those that a crash left. */
  #isBehind = true;
  #isStopped = false;
  #leadsUntil = 0;
  /** The environments of which a copy failed in the last pass. */
  #failing: ReadonlySet<EnvironmentId> = new Set();
  /** A copy failed: a pass reads all that is left, so there is none until the next poll. */
  #isResting = false;
  /** Copies that were refused since the log last said so. */
  readonly #refused = new Map<string, { code: ErrorCode; webhook: WebhookId; environment: string; count: number }>();

  constructor(parts: EventMirrorParts) {
    this.#parts = parts;
  }

  start(): void {
    this.wake();
    this.#timer ??= setInterval(() => {
      this.#isResting = false;
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
    if (this.#isResting) return;
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
   * False if something may be left: what another node with the leadership copies, what is in a database that cannot be used now, what
   * belongs to an environment that moves, and copies that failed. Those recorded in one database that cannot be used hold up none of the others.
   */
  async #copyPending(): Promise<boolean> {
    const pass: Pass = { isDone: true, failed: new Set(), unavailable: new Set() };
    try {
      await inEachDatabase(this.#parts.store, async (...database) => {
        await this.#copyAll(pass, ...database).catch((error) => {
          pass.isDone = false;
          throw error;
        });
        return false;
      });
    } finally {
      this.#failing = pass.failed;
      this.#isResting = pass.failed.size > 0;
    }
    return pass.isDone && pass.failed.size === 0;
  }

  async #copyAll(pass: Pass, { mirrorList }: Store, isHeld: (row: PendingMirror) => boolean): Promise<void> {
    let listed: PendingMirror[];
    let after: PendingMirror | null = null;
    do {
      listed = await mirrorList({ after, limit: LISTED_MAX });
      for (const row of listed) {
        if (this.#isStopped || !isHeld(row)) pass.isDone = false;
        else if (!(await this.#copy(pass, row))) return;
      }
      after = listed.at(-1) ?? null;
    } while (listed.length === LISTED_MAX && !this.#isStopped);
  }

  /** False if another node has the leadership. */
  async #copy(pass: Pass, row: PendingMirror): Promise<boolean> {
    const isUnavailable = row.targets.length > 0 && row.targets.every((target) => pass.unavailable.has(target));
    if (isUnavailable) return true;
    if (!(await this.#lead())) {
      pass.isDone = false;
      return false;
    }
    const { environmentId, eventId, webhookId, targets } = row;
    const { store } = this.#parts;
    try {
      const event = await store.eventGet({ environmentId, id: eventId });
      const left: EnvironmentId[] = [];
      if (event) for (const target of targets) if (!(await this.#hasCopied(pass, target, webhookId, event))) left.push(target);
      if (left.length === 0) await store.mirrorRemove({ environmentId, eventId });
      else if (left.length < targets.length) await store.mirrorKeep({ environmentId, eventId, targets: left });
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      this.#noteFailed(pass, environmentId, webhookId, error);
    }
    return true;
  }

  async #lead(): Promise<boolean> {
    const now = this.#parts.now();
    if (this.#leadsUntil - now > LEADERSHIP_MS / 2) return true;
    const leadership = { work: "mirrors", node: this.#parts.store.storeNode, now, until: now + LEADERSHIP_MS };
    if (!(await this.#parts.store.leadershipTake(leadership))) return false;
    this.#leadsUntil = leadership.until;
    return true;
  }

  /** False: it is tried again in a later pass. */
  async #hasCopied(pass: Pass, target: EnvironmentId, webhookId: WebhookId, event: StoredEvent): Promise<boolean> {
    if (pass.unavailable.has(target)) return false;
    try {
      await this.#copyTo(target, webhookId, event);
      return true;
    } catch (error) {
      if (error instanceof StoreUnavailable) pass.unavailable.add(target);
      this.#noteFailed(pass, target, webhookId, error);
      return false;
    }
  }

  /** One line when copies of an environment begin to fail, not one for each copy and pass. */
  #noteFailed({ failed }: Pass, id: EnvironmentId, webhook: WebhookId, error: unknown): void {
    const { environmentName, log } = this.#parts;
    const isNoted = failed.has(id) || this.#failing.has(id);
    failed.add(id);
    if (!isNoted)
      log.warn({ err: error, webhook, environment: environmentName(id) }, "an event could not be mirrored; this is tried again");
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
