/**
 * Raises and resolves alerts: evaluates every rule at intervals, on one node of a cluster. A change is an internal event,
 * `inlet/alert.raised` or `inlet/alert.resolved`, which functions subscribe to. It is stored in the transaction that changes the rule, or
 * deletes it: each change is reported once, and no alert outlives its rule. Whatever ends a raised alert resolves it, with a reason: the
 * measurement, or that the rule was disabled or deleted, or its environment archived.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { Logger } from "pino";
import {
  type AlertRule,
  type AlertStore,
  type AuditStore,
  type ClaimedEntry,
  type Environment,
  type EventBatch,
  ruleMeasure,
} from "../store/contract/index.ts";
import type { Measured } from "./measure.ts";

export interface AlertEvent {
  environmentId: EnvironmentId;
  name: "inlet/alert.raised" | "inlet/alert.resolved";
  dedupId: string;
  /** JSON text of an object. */
  data: string;
}

export interface AlertWatchParts {
  store: AlertStore & Pick<AuditStore, "auditAppend">;
  measure(rule: AlertRule): Promise<Measured>;
  /** The event as it is stored, with the functions that it starts. */
  internal(event: AlertEvent): EventBatch;
  /** Runs what is leased to this node. */
  take(leased: readonly ClaimedEntry[]): void;
  environment(id: EnvironmentId): Pick<Environment, "name" | "archivedAt"> | undefined;
  /** Whether this node has the leadership. */
  takeLeadership(forMs: number): Promise<boolean>;
  log: Logger;
  now(): number;
  /** How often rules are evaluated. */
  everyMs?: number;
}

/** Why an alert was resolved. */
type Resolution = "below_threshold" | "active_again" | "rule_disabled" | "rule_deleted" | "environment_archived";

interface Change {
  to: "raised" | Resolution;
  value: number;
  at: number;
}

const EVERY_MS = 5_000;
const ACTOR = { kind: "service", id: "alerts", name: "alerts" } as const;

export class AlertWatch {
  readonly #parts: AlertWatchParts;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | null = null;
  #polling: Promise<void> | null = null;

  constructor(parts: AlertWatchParts) {
    this.#parts = parts;
    this.#everyMs = parts.everyMs ?? EVERY_MS;
  }

  start(): void {
    this.#timer ??= setInterval(() => {
      this.#polling ??= this.#poll().finally(() => {
        this.#polling = null;
      });
    }, this.#everyMs).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#polling;
  }

  /** Deletes a rule and resolves its alert, if that is raised. False if the alert has changed since the rule was read. */
  async remove(rule: AlertRule): Promise<boolean> {
    const { store, take, now } = this.#parts;
    const change: Change = { to: "rule_deleted", value: rule.value ?? 0, at: now() };
    const event = rule.raisedAt === null ? null : this.#eventOf(rule, change);
    const { isDone, leased } = await store.alertRuleDelete({ ...rule, event });
    take(leased);
    if (isDone && event) await this.#audit(rule, change);
    return isDone;
  }

  async #poll(): Promise<void> {
    const { store, takeLeadership, log } = this.#parts;
    try {
      const rules = await store.alertRuleList();
      if (rules.length === 0 || !(await takeLeadership(this.#everyMs * 3))) return;
      for (const rule of rules) {
        await this.#evaluate(rule).catch((error) =>
          log.warn({ err: error, rule: rule.id }, "an alert rule could not be evaluated; this will be retried"),
        );
      }
    } catch (error) {
      log.warn({ err: error }, "alerts could not be evaluated; this will be retried");
    }
  }

  async #evaluate(rule: AlertRule): Promise<void> {
    const { measure, now } = this.#parts;
    const isRaised = rule.raisedAt !== null;
    const suspended = this.#suspension(rule);
    if (suspended) {
      if (isRaised) await this.#change(rule, { to: suspended, value: rule.value ?? 0, at: now() });
      return;
    }
    const { value, isOver } = await measure(rule);
    const at = now();
    if (isOver && !isRaised && !isQuiet(rule, at)) await this.#change(rule, { to: "raised", value, at });
    if (!isOver && isRaised) await this.#change(rule, { to: rule.kind === "silence" ? "active_again" : "below_threshold", value, at });
  }

  /** Why the rule is not evaluated; null: it is. */
  #suspension({ isEnabled, environmentId }: AlertRule): Resolution | null {
    if (!isEnabled) return "rule_disabled";
    return this.#parts.environment(environmentId)?.archivedAt == null ? null : "environment_archived";
  }

  async #change(rule: AlertRule, change: Change): Promise<void> {
    const { store, take } = this.#parts;
    const { id, environmentId, changes } = rule;
    const state = change.to === "raised" ? { raisedAt: change.at, value: change.value } : { raisedAt: null, value: null };
    const event = this.#eventOf(rule, change);
    const { isDone, leased } = await store.alertChange({ environmentId, id, changes, ...state, event });
    take(leased);
    if (isDone) await this.#audit(rule, change);
  }

  #eventOf(rule: AlertRule, { to, value, at }: Change): EventBatch {
    const { id, environmentId, changes } = rule;
    const data = {
      rule: { id, name: rule.name, ...ruleMeasure(rule) },
      value,
      environment: this.#parts.environment(environmentId)?.name ?? null,
      since: new Date(rule.raisedAt ?? at).toISOString(),
      ...(to !== "raised" && { reason: to }),
    };
    const name = to === "raised" ? "inlet/alert.raised" : "inlet/alert.resolved";
    return this.#parts.internal({ environmentId, name, dedupId: `${id} ${changes}`, data: JSON.stringify(data) });
  }

  async #audit({ id, environmentId, name, threshold }: AlertRule, { to, value, at }: Change): Promise<void> {
    const { store, environment } = this.#parts;
    await store.auditAppend({
      at,
      actor: ACTOR,
      target: { kind: "alert", id, name },
      environment: environment(environmentId)?.name ?? null,
      action: to === "raised" ? "alert.raised" : "alert.resolved",
      details: JSON.stringify({ value, threshold, ...(to !== "raised" && { reason: to }) }),
    });
  }
}

/** Quiet hours may span midnight. They follow the clocks of their time zone, also when these are changed for the summer. */
export function isQuiet({ quietHours }: Pick<AlertRule, "quietHours">, at: number): boolean {
  if (quietHours === null) return false;
  const { from, to, timeZone = "UTC" } = quietHours;
  const time = new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(at);
  return from <= to ? time >= from && time < to : time >= from || time < to;
}
