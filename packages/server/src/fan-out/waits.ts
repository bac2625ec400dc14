/** Waits for an event, and whether an event matches one. */

import { eventJson, type StepId } from "@inlet/protocol";
import type { NewEvent, NewWait, StoredWait, WaitRules } from "../store/contract/index.ts";
import { equalityKey, keyOfValue, valueAt } from "./equality-key.ts";
import { compileExpression, type EventValue, isFault } from "./expressions.ts";

export interface WaitParams {
  kind: NewWait["kind"];
  eventName: string;
  expression: string | null;
  stepId: StepId | null;
  since: number;
  expiresAt: number;
}

/** A sentence if the expression is invalid. `runEvent` is the event that started the run. */
export function newWait({ expression, ...wait }: WaitParams, runEvent: () => EventValue): NewWait | string {
  if (expression === null) return { ...wait, expression, match: null };
  const compiled = compileExpression(expression);
  if (isFault(compiled)) return `the expression ${JSON.stringify(expression)} cannot be used: ${compiled.fault}`;
  return { ...wait, expression, match: matchOf(expression, runEvent) };
}

/** Finds one of many waits for the same event name without testing each. */
function matchOf(expression: string, runEvent: () => EventValue): NewWait["match"] {
  const equality = equalityKey(expression);
  if (!equality) return null;
  const { asyncPath, expected } = equality;
  const key = keyOfValue("path" in expected ? valueAt(runEvent(), expected.path) : expected.literal);
  return key === null ? null : { path: asyncPath, key };
}

export const waitRules: WaitRules = {
  keyAt: (event, path) => keyOfValue(valueAt(eventValue(event), path)),
  matches: (wait, event, runEvent) => holds(wait, event, runEvent),
};

function holds({ expression }: Pick<StoredWait, "expression">, event: NewEvent, runEvent: NewEvent): boolean {
  if (expression === null) return true;
  const compiled = compileExpression(expression);
  return !isFault(compiled) && compiled.matches({ event: eventValue(runEvent), async: eventValue(event) }) === true;
}

export function eventValue(event: NewEvent): EventValue {
  return JSON.parse(eventJson(event)) as EventValue;
}
