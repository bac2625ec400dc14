/**
 * Raises and resolves alerts: evaluates every rule at intervals, on one node of a cluster. A change is an internal event,
 * `inlet/alert.raised` or `inlet/alert.resolved`, which functions subscribe to. Its dedup id contains the rule's change counter: after a
 * crash between storing the event and recording the change, the same change is not reported twice.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { Logger } from "pino";
import type { AlertRule, AlertStore, AuditStore } from "../store/contract/index.ts";

export interface AlertEvent {
  environmentId: EnvironmentId;
  name: "inlet/alert.raised" | "inlet/alert.resolved";
  dedupId: string;
  /** JSON text of an object. */
  data: string;
}

export interface AlertWatchParts {
  store: AlertStore & Pick<AuditStore, "auditAppend">;
  measure(rule: AlertRule): Promise<number>;
  /** Stores the event and starts its functions. */
  emit(event: AlertEvent): Promise<void>;
  environmentName(id: EnvironmentId): string | null;
  /** Whether this node has the turn. */
  takeTurn(forMs: number): Promise<boolean>;
  log: Logger;
  now(): number;
}

const EVERY_MS = 5_000;
const ACTOR = { kind: "service", id: "alerts", name: "alerts" };

export class AlertWatch {
  readonly #parts: AlertWatchParts;
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  constructor(parts: AlertWatchParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#looking = this.#looking.then(() => this.#look());
    }, EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { store, takeTurn, log } = this.#parts;
    try {
      const rules = await store.alertRuleList();
      if (rules.length === 0 || !(await takeTurn(EVERY_MS * 3))) return;
      for (const rule of rules) await this.#judge(rule);
    } catch (error) {
      log.warn({ err: error }, "alerts could not be evaluated; this will be retried");
    }
  }

  async #judge(rule: AlertRule): Promise<void> {
    const { measure, now } = this.#parts;
    const value = rule.isEnabled ? await measure(rule) : 0;
    const isOver = rule.isEnabled && value >= rule.threshold;
    const at = now();
    if (isOver && rule.raisedAt === null && !isQuiet(rule, at)) await this.#change(rule, "raised", value, at);
    if (!isOver && rule.raisedAt !== null) await this.#change(rule, "resolved", value, at);
  }

  async #change(rule: AlertRule, change: "raised" | "resolved", value: number, at: number): Promise<void> {
    const { store, emit, environmentName } = this.#parts;
    const { id, environmentId, name, kind, functionId, threshold, windowMs, changes } = rule;
    const raisedAt = change === "raised" ? at : null;
    const data = { rule: { id, name, kind, function: functionId, threshold, windowSeconds: windowMs / 1_000 }, value };
    const since = new Date(rule.raisedAt ?? at).toISOString();
    await emit({
      ...{ environmentId, name: `inlet/alert.${change}`, dedupId: `${id} ${changes}` },
      data: JSON.stringify({ ...data, environment: environmentName(environmentId), since }),
    });
    const isNoted = await store.alertChange({ environmentId, id, changes, raisedAt, value: change === "raised" ? value : null });
    if (!isNoted) return;
    const target = { kind: "alert", id, name };
    const details = JSON.stringify({ value, threshold });
    await store.auditAppend({ at, actor: ACTOR, action: `alert.${change}`, target, environment: environmentName(environmentId), details });
  }
}

/** Quiet hours may span midnight. */
export function isQuiet({ quietHours }: Pick<AlertRule, "quietHours">, at: number): boolean {
  if (quietHours === null) return false;
  const time = new Date(at).toISOString().slice(11, 16);
  const { from, to } = quietHours;
  return from <= to ? time >= from && time < to : time >= from || time < to;
}
