/**
 * Gates: lanes in which runs wait to be admitted, because their function limits how many runs are active or how many start in a
 * period, or because they start in order. When a run enters a gate, a slot is freed or a throttle's time has come, the store is asked to
 * admit runs. Only the list of gates to ask for is kept here.
 */

import type { EnvironmentId, FunctionNo } from "@inlet/protocol";
import type { AdmissionStore, LimitRule, RunThrottle } from "../../store/contract/index.ts";
import type { Clock } from "../clock.ts";
import { PollSpread } from "./poll-spread.ts";

/** Gates with the same name are asked for together. */
export interface GateRule {
  name: string;
  /** Absent: the function is not registered any more. */
  environmentId?: EnvironmentId | undefined;
  functionNo: FunctionNo;
  /** Null: any number of runs may be active. */
  limit: LimitRule | null;
  /** Runs of this key are admitted in order; null: by rank. */
  orderKey: string | null;
  /** Announced when it may admit more; null: only time does. */
  freedBy: string | null;
  /** Null: any number may start. */
  throttle: { key: string; admit(now: number): RunThrottle["admit"] } | null;
  /** The lane in which admitted runs continue. */
  home: string;
}

export interface GatesParts {
  store: Pick<AdmissionStore, "runAdmitMany">;
  /** Null for a lane that is not a gate. */
  gateOf(lane: string): GateRule | null;
  clock: Clock;
}

/** Delay after a failed call of the store. */
const RETRY_MS = 1_000;
/** Another node may have died while it held slots: waiting runs are checked again. */
const POLL_INTERVAL_MS = 5_000;
/** There may be many keys, on hold for days. Positions are stored, so none is lost with a node. */
const ORDER_POLL_INTERVAL_MS = 30_000;
/** Only time opens a throttle, or other rules, which are announced. A clock may be set meanwhile, or the machine suspended. */
const THROTTLE_POLL_INTERVAL_MS = 60_000;

/** Kept while runs wait. */
interface Gate {
  rule: GateRule;
  /** The gates in which runs wait, and the lanes in which they continue. */
  lanes: Map<string, string>;
  isAsking: boolean;
  /** A run arrived, or a slot was freed, since the store was asked. */
  wasNoted: boolean;
  cancelPoll: (() => void) | null;
}

export class Gates {
  readonly #parts: GatesParts;
  readonly #gates = new Map<string, Gate>();
  readonly #spread = new PollSpread();
  #isStopped = false;

  constructor(parts: GatesParts) {
    this.#parts = parts;
  }

  isGate(lane: string): boolean {
    return this.#parts.gateOf(lane) !== null;
  }

  /** Runs wait in this lane. */
  note(lane: string): void {
    const rule = this.#parts.gateOf(lane);
    if (!rule || this.#isStopped) return;
    const gate = this.#gates.get(rule.name) ?? { rule, lanes: new Map(), isAsking: false, wasNoted: false, cancelPoll: null };
    gate.rule = rule;
    gate.lanes.set(lane, rule.home);
    this.#gates.set(rule.name, gate);
    this.#ask(gate);
  }

  /** Slots of these limits may be free. */
  noteFreed(limitIds: readonly string[]): void {
    for (const gate of this.#gates.values()) if (gate.rule.freedBy !== null && limitIds.includes(gate.rule.freedBy)) this.#ask(gate);
  }

  /** Functions were registered: limits may have changed. */
  refresh(): void {
    const lanes = [...this.#gates.values()].flatMap((gate) => [...gate.lanes.keys()]);
    for (const gate of this.#gates.values()) gate.cancelPoll?.();
    this.#gates.clear();
    for (const lane of lanes) this.note(lane);
  }

  stop(): void {
    this.#isStopped = true;
    for (const gate of this.#gates.values()) gate.cancelPoll?.();
  }

  #ask(gate: Gate): void {
    if (!this.#isKept(gate)) return;
    gate.wasNoted = true;
    gate.cancelPoll?.();
    gate.cancelPoll = null;
    if (!gate.isAsking) void this.#admitAll(gate);
  }

  async #admitAll(gate: Gate): Promise<void> {
    gate.isAsking = true;
    let nextAt: number | null = null;
    try {
      while (gate.wasNoted && this.#isKept(gate)) nextAt = await this.#admit(gate);
    } catch {
      gate.wasNoted = true;
      nextAt = this.#parts.clock.now() + RETRY_MS;
    }
    gate.isAsking = false;
    if (!this.#isKept(gate)) return;
    if (gate.lanes.size === 0) this.#gates.delete(gate.rule.name);
    else this.#pollBy(gate, nextAt);
  }

  /** A refresh replaces gates, also while the store is asked for them. The one that was replaced does nothing more. */
  #isKept(gate: Gate): boolean {
    return !this.#isStopped && this.#gates.get(gate.rule.name) === gate;
  }

  /** Returns when to ask again, if known. */
  async #admit(gate: Gate): Promise<number | null> {
    gate.wasNoted = false;
    const { store, clock } = this.#parts;
    const { environmentId, functionNo, limit, orderKey, throttle } = gate.rule;
    const now = clock.now();
    const lanes = [...gate.lanes].map(([lane, home]) => ({ lane, home }));
    // The store may have to wait before it asks. By then, the state of an earlier period may have expired: it is the time of the response that
    // counts, or starts would follow each other sooner than the throttle allows.
    const rate = throttle && {
      key: throttle.key,
      admit: (remembered: string | null, wanted: number) => throttle.admit(clock.now())(remembered, wanted),
    };
    const { waiting, more, nextAt } = await store.runAdmitMany({
      environmentId,
      functionNo,
      limit,
      orderKey,
      throttle: rate,
      gates: lanes,
      now,
    });
    if (more) gate.wasNoted = true;
    if (!gate.wasNoted) for (const { lane } of lanes) if (!waiting.includes(lane)) gate.lanes.delete(lane);
    return nextAt;
  }

  #pollBy(gate: Gate, nextAt: number | null): void {
    const { clock } = this.#parts;
    const pollMs = this.#spread.delayMs(pollIntervalMs(gate, nextAt), this.#gates.size);
    const delayMs = nextAt === null ? pollMs : Math.min(pollMs, Math.max(nextAt - clock.now(), 0));
    gate.cancelPoll = clock.after(delayMs, () => this.#ask(gate));
  }
}

/** Before its time a throttle admits nothing, whatever slots are freed. */
function pollIntervalMs({ rule }: Gate, nextAt: number | null): number {
  if (nextAt !== null) return THROTTLE_POLL_INTERVAL_MS;
  return rule.orderKey === null ? POLL_INTERVAL_MS : ORDER_POLL_INTERVAL_MS;
}
