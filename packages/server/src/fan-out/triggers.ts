/**
 * Finds the functions of an environment that an event's name starts. Exact names and patterns are looked up by key, so the time does
 * not grow with the number of functions, and a name without subscribers costs one or two lookups.
 */

import { EVENT_NAME_UNITS_MAX, RESERVED_NAME_PREFIXES } from "@inlet/protocol";
import { compileExpression, type EventValue, type Expression, type ExpressionFault, isFault } from "./expressions.ts";

/** As registered. A cron starts its function by the clock, not by an event. */
export type TriggerSource = { event: string; expression?: string | null } | { cron: string };

export interface TriggeredFunction {
  functionNo: number;
  triggers: readonly TriggerSource[];
}

export interface EventTrigger {
  readonly event: string;
  /** Null: every event of that name. */
  readonly condition: Expression | ExpressionFault | null;
}

/** A function, and its triggers that match the name: it starts if the condition of any of them is true. */
export interface Candidate {
  readonly functionNo: number;
  readonly triggers: readonly EventTrigger[];
}

const NONE: readonly Candidate[] = [];

export class TriggerIndex {
  readonly #byName: ReadonlyMap<string, readonly Candidate[]>;
  /** By the text before the `*`. */
  readonly #byPrefix: ReadonlyMap<string, readonly Candidate[]>;
  /** The lengths of prefixes, so that only those are looked up. */
  readonly #prefixLengths: readonly number[];

  constructor(functions: Iterable<TriggeredFunction>) {
    const byName = new Map<string, Candidate[]>();
    const byPrefix = new Map<string, Candidate[]>();
    for (const { functionNo, triggers } of functions)
      for (const trigger of triggers) {
        if (!("event" in trigger)) continue;
        const isPattern = trigger.event.endsWith("*");
        const key = isPattern ? trigger.event.slice(0, -1) : trigger.event;
        addTrigger(isPattern ? byPrefix : byName, key, functionNo, eventTrigger(trigger.event, trigger.expression));
      }
    this.#byName = byName;
    this.#byPrefix = byPrefix;
    this.#prefixLengths = [...new Set([...byPrefix.keys()].map((prefix) => prefix.length))].sort((a, b) => a - b);
  }

  /** Each function at most once. */
  match(eventName: string): readonly Candidate[] {
    let found = this.#byName.get(eventName) ?? NONE;
    for (const length of this.#prefixLengths) {
      if (length > eventName.length) break;
      if (length === 0 && isInternal(eventName)) continue;
      const more = this.#byPrefix.get(eventName.slice(0, length));
      if (more) found = found === NONE ? more : joined(found, more);
    }
    return found;
  }
}

/**
 * The first trigger whose condition is true for the event, or null; and why conditions had no value, which the
 * function's owner should know.
 */
export function firingTrigger({ triggers }: Candidate, event: EventValue): { trigger: EventTrigger | null; faults: readonly string[] } {
  const faults: string[] = [];
  for (const trigger of triggers) {
    const { condition } = trigger;
    if (condition === null) return { trigger, faults };
    const outcome = isFault(condition) ? condition : condition.matches({ event });
    if (outcome === true) return { trigger, faults };
    if (outcome !== false) faults.push(outcome.fault);
  }
  return { trigger: null, faults };
}

/** Completes "the event name …"; null if the name can trigger a function. */
export function triggerNameFault(name: string): string | null {
  if (name === "") return "must not be empty";
  if (name.length > EVENT_NAME_UNITS_MAX) return `is longer than ${EVENT_NAME_UNITS_MAX} characters`;
  const star = name.indexOf("*");
  if (star < 0 || name === "*") return null;
  const isAfterSeparator = name[star - 1] === "/" || name[star - 1] === ".";
  return star === name.length - 1 && isAfterSeparator ? null : "may have a * only at its end, after / or . (or be just *)";
}

/** A lone `*` matches the events that apps send; internal events need an explicit prefix: `inngest/*`. */
function isInternal(eventName: string): boolean {
  return RESERVED_NAME_PREFIXES.some((prefix) => eventName.startsWith(prefix));
}

function eventTrigger(event: string, expression: string | null | undefined): EventTrigger {
  return { event, condition: expression ? compileExpression(expression) : null };
}

function addTrigger(index: Map<string, Candidate[]>, key: string, functionNo: number, trigger: EventTrigger): void {
  const candidates = index.get(key) ?? [];
  index.set(key, candidates);
  // Functions are added one after the other: if this one is already present, it is the last.
  const last = candidates.at(-1);
  if (last?.functionNo === functionNo) candidates[candidates.length - 1] = { functionNo, triggers: [...last.triggers, trigger] };
  else candidates.push({ functionNo, triggers: [trigger] });
}

function joined(some: readonly Candidate[], others: readonly Candidate[]): readonly Candidate[] {
  const byFunction = new Map(some.map((candidate) => [candidate.functionNo, candidate]));
  for (const { functionNo, triggers } of others)
    byFunction.set(functionNo, { functionNo, triggers: [...(byFunction.get(functionNo)?.triggers ?? []), ...triggers] });
  return [...byFunction.values()];
}
