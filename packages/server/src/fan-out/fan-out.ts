/** What an event starts: a run of every subscribed function, or a start request if the function has rules about its starts. */

import { type EnvironmentId, type EventIdGenerator, type RunId, YEAR_MS } from "@inlet/protocol";
import { HELD_UNTIL, type NewEvent, type NewRun, type NewStart, type NewWait, RANK_SHIFT_MAX_MS } from "../store/contract/index.ts";
import { compileExpression, type EventValue, isFault } from "./expressions.ts";
import { type KeyHash, laneOf, orderKeyOf } from "./lanes.ts";
import type { RegisteredFunction, Registry } from "./registry.ts";
import { firingTrigger } from "./triggers.ts";
import { eventValue, newWait } from "./waits.ts";

const PRIORITY_MAX_S = RANK_SHIFT_MAX_MS / 1_000;

export interface FanOutParts {
  registry: Registry;
  runIds: EventIdGenerator;
  keyHash: KeyHash;
  /** The fault of a trigger's expression that has no value for an event. */
  onFault(functionId: string, fault: string): void;
}

export class FanOut {
  readonly #parts: FanOutParts;

  constructor(parts: FanOutParts) {
    this.#parts = parts;
  }

  /** The event with what it starts. */
  plan(environmentId: EnvironmentId, event: NewEvent, now: number): NewEvent {
    const value = once(() => eventValue(event));
    const started = this.#startedBy(environmentId, event, value);
    if (started === null) return event;
    const dueAt = dueTime(event.ts, now);
    const [later, atOnce] = [started.filter(hasStartRules), started.filter((registered) => !hasStartRules(registered))];
    return {
      ...event,
      runs: atOnce.map((registered) => this.newRun(registered, value, dueAt, now)),
      starts: later.map(({ no }) => ({ functionNo: no, dueAt })),
    };
  }

  /** Runs of the currently subscribed functions for a stored event, ignoring their rules about starts. Each function once. */
  replay(environmentId: EnvironmentId, event: NewEvent, functionId: string | null, now: number): NewRun[] {
    const value = once(() => eventValue(event));
    const started = this.#startedBy(environmentId, event, value) ?? [];
    return started
      .filter(({ id }) => functionId === null || id === functionId)
      .map((registered) => this.newRun(registered, value, now, now));
  }

  /** Null: no function subscribes to its name. */
  #startedBy(environmentId: EnvironmentId, event: NewEvent, value: () => EventValue): RegisteredFunction[] | null {
    const candidates = this.#parts.registry.candidates(environmentId, event.name);
    if (candidates.length === 0) return null;
    return candidates.flatMap((candidate) => {
      const registered = this.#parts.registry.function(candidate.functionNo as RegisteredFunction["no"]);
      return registered && this.#fires(registered, candidate, value) ? [registered] : [];
    });
  }

  /** If a function has rules about its starts, a request is stored instead of a run, and decided separately (starts/). */
  begin(registered: RegisteredFunction, event: NewEvent, dueAt: number, now: number): { run: NewRun } | { start: NewStart } {
    if (hasStartRules(registered)) return { start: { functionNo: registered.no, dueAt } };
    const value = once(() => eventValue(event));
    return { run: this.newRun(registered, value, dueAt, now) };
  }

  newRun(registered: RegisteredFunction, value: () => EventValue, dueAt: number, now: number): NewRun {
    const { config } = registered;
    const { keyHash, runIds } = this.#parts;
    const { startMs } = config.timeouts;
    const cancels = cancelsOf(registered, value, now);
    const order = orderKeyOf(registered, value, keyHash);
    return {
      id: runIds.next(now) as string as RunId,
      functionNo: registered.no,
      lane: laneOf(registered, value, keyHash, order),
      // A run that is to start later is held when it is due: its time would be lost.
      dueAt: registered.stored.pausedAt && dueAt <= now ? HELD_UNTIL : dueAt,
      rank: dueAt - priorityMs(config.priority?.expression, value),
      ...(order !== null && { order }),
      ...(cancels.length > 0 && { cancels }),
      ...(startMs !== null && { startBy: dueAt + startMs }),
    };
  }

  #fires(registered: RegisteredFunction, candidate: Parameters<typeof firingTrigger>[0], value: () => EventValue): boolean {
    if (candidate.triggers.some(({ condition }) => condition === null)) return true;
    const { trigger, faults } = firingTrigger(candidate, value());
    for (const fault of faults) this.#parts.onFault(registered.id, fault);
    return trigger !== null;
  }
}

export function hasStartRules({ config }: RegisteredFunction): boolean {
  const { rateLimit, debounce, batch, singleton } = config;
  return [rateLimit, debounce, batch, singleton].some((rule) => rule !== null);
}

function dueTime(ts: number, now: number): number {
  return ts > now && ts <= now + YEAR_MS ? ts : now;
}

function cancelsOf({ config }: RegisteredFunction, value: () => EventValue, now: number): NewWait[] {
  return config.cancelOn.flatMap(({ event, expression, timeoutMs }) => {
    const expiresAt = now + (timeoutMs ?? YEAR_MS);
    const wait = newWait({ kind: "cancel", eventName: event, expression, stepId: null, since: 0, expiresAt }, value);
    return typeof wait === "string" ? [] : [wait];
  });
}

/** How many milliseconds a run is ahead of others created at the same time. */
function priorityMs(expression: string | undefined, value: () => EventValue): number {
  if (expression === undefined) return 0;
  const compiled = compileExpression(expression);
  const outcome = isFault(compiled) ? compiled : compiled.evaluate({ event: value() });
  if (isFault(outcome) || typeof outcome.value !== "number") return 0;
  return Math.trunc(Math.min(Math.max(outcome.value, -PRIORITY_MAX_S), PRIORITY_MAX_S)) * 1_000;
}

/** Payloads are parsed only if an expression needs them, and then once. */
export function once<Value>(make: () => Value): () => Value {
  let made: { value: Value } | null = null;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
