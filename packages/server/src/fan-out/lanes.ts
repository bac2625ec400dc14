/**
 * Which lane a run's calls stand in, and which limits hold for a lane. A lane's key says everything, so that it can be read again
 * after a restart:
 *
 * - `app:<no>`: calls of an app that are limited by nothing else;
 * - `fn:<no>:<values of its concurrency keys>`: those of a function with limits of its own;
 * - `gate:<no>:<values>`: runs that may not begin before they have a place among the runs of their function. With the place they
 *   move on to the `fn` lane of the same values.
 */

import type { AppNo, FunctionNo } from "@inlet/protocol";
import { compileExpression, type EventValue, isFault } from "./expressions.ts";
import type { RegisteredFunction, Registry } from "./registry.ts";

export interface LaneLimit {
  id: string;
  cap: number;
}

/** Where the runs of a gate go on, and how many of them at a time. */
export interface Gate {
  /** What is counted: runs that hold a place with this name. */
  place: string;
  cap: number;
  home: string;
}

/** Where a new run of this function stands. */
export function laneOf({ no, app, config }: RegisteredFunction, event: () => EventValue): string {
  if (config.concurrency.length === 0) return `app:${app.no}`;
  const kind = config.concurrency.some(({ counts }) => counts === "runs") ? "gate" : "fn";
  return `${kind}:${no}:${JSON.stringify(config.concurrency.map(({ key }) => (key === null ? null : keyText(key, event()))))}`;
}

/** Null for a lane that is no gate. A function that has no limit of runs any more lets everyone in. */
export function gateOfLane(registry: Registry, lane: string): Gate | null {
  if (!lane.startsWith("gate:")) return null;
  const { no, values } = readLane(lane);
  const limits = registry.function(no as FunctionNo)?.config.concurrency ?? [];
  const index = limits.findIndex(({ counts }) => counts === "runs");
  const { key = null, limit = Number.MAX_SAFE_INTEGER } = limits[index] ?? {};
  return { place: `${no}:${key ?? ""}:${values[index] ?? ""}`, cap: limit, home: lane.replace("gate", "fn") };
}

export function limitsOfLane(registry: Registry, lane: string, callsPerApp: number): LaneLimit[] {
  const { kind, no, values } = readLane(lane);
  if (kind === "app") return [appLimit(no as AppNo, callsPerApp)];
  const registered = registry.function(no as FunctionNo);
  if (!registered) return [];
  const own = registered.config.concurrency.flatMap(({ limit, key, scope, counts }, index) => {
    if (counts === "runs") return [];
    const value = values[index] ?? "";
    if (scope === "fn") return [{ id: `fn:${no}:${key ?? ""}:${value}`, cap: limit }];
    return [{ id: `${scope === "env" ? `env:${registered.environmentId}` : "account"}:${key ?? ""}:${value}`, cap: limit }];
  });
  return [...own, appLimit(registered.app.no, callsPerApp)];
}

function readLane(lane: string): { kind: string; no: number; values: (string | null)[] } {
  const [kind = "", no = "", ...rest] = lane.split(":");
  return { kind, no: Number(no), values: rest.length === 0 ? [] : JSON.parse(rest.join(":")) };
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
