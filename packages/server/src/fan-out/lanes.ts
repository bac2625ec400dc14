/** Which lane a run's calls stand in, and which limits hold for a lane. A lane's key says everything, so that it can be read again after a restart. */

import type { AppNo, FunctionNo } from "@inlet/protocol";
import { compileExpression, type EventValue, isFault } from "./expressions.ts";
import type { RegisteredFunction, Registry } from "./registry.ts";

export interface LaneLimit {
  id: string;
  cap: number;
}

/** `app:<no>`, or `fn:<no>:<values of its concurrency keys>` for a function that has limits of its own. */
export function laneOf({ no, app, config }: RegisteredFunction, event: () => EventValue): string {
  if (config.concurrency.length === 0) return `app:${app.no}`;
  return `fn:${no}:${JSON.stringify(config.concurrency.map(({ key }) => (key === null ? null : keyText(key, event()))))}`;
}

export function limitsOfLane(registry: Registry, lane: string, callsPerApp: number): LaneLimit[] {
  const [kind, no, ...rest] = lane.split(":");
  if (kind === "app") return [appLimit(Number(no) as AppNo, callsPerApp)];
  const registered = registry.function(Number(no) as FunctionNo);
  if (!registered) return [];
  const values = JSON.parse(rest.join(":")) as (string | null)[];
  const own = registered.config.concurrency.map(({ limit, key, scope }, index) => {
    const value = values[index] ?? "";
    if (scope === "fn") return { id: `fn:${no}:${key ?? ""}:${value}`, cap: limit };
    return { id: `${scope === "env" ? `env:${registered.environmentId}` : "account"}:${key ?? ""}:${value}`, cap: limit };
  });
  return [...own, appLimit(registered.app.no, callsPerApp)];
}

function appLimit(appNo: AppNo, cap: number): LaneLimit {
  return { id: `app:${appNo}`, cap };
}

/** The value of a key expression as text; one that has no value for this event shares one key with its like. */
export function keyText(expression: string, event: EventValue): string {
  const compiled = compileExpression(expression);
  const outcome = isFault(compiled) ? compiled : compiled.evaluate({ event });
  return isFault(outcome) ? "" : (JSON.stringify(outcome.value) ?? "");
}
