/**
 * Runs a function's code on the results that the store holds for one of its runs, in the order in which they were kept, and says where
 * that leads. Whatever happened on the way, this is what the run must have come to.
 */

import { StepNames } from "../apps/own-app.ts";
import { type DecisionValue, decisionText, interpret, type Json, type StepCode, signalText, type Tools } from "../interpret.ts";
import type { Code } from "../scenario.ts";
import { turn } from "../virtual-time.ts";

export interface KeptStep {
  /** As the SDK names it. */
  name: string;
  status: "completed" | "failed";
  /** As the store holds it. */
  value: string;
  endedAt: number;
}

export interface Demand {
  name: string;
  code: StepCode;
  /** The result after which the code came to it; null: it was there from the beginning. */
  after: KeptStep | null;
}

export type ReplayEnd = { kind: "returned"; value: Json } | { kind: "threw"; message: string } | { kind: "waiting" };

export interface Replay {
  end: ReplayEnd;
  demands: ReadonlyMap<string, Demand>;
  /** How many functions were deferred, and not dropped again. */
  deferred: number;
}

interface Asked {
  name: string;
  resolve(value: never): void;
  reject(error: Error): void;
}

/** `attempt` is that of the call that ended the run. */
export async function replay(code: Code, kept: readonly KeptStep[], attempt: number): Promise<Replay> {
  const names = new StepNames();
  const demands = new Map<string, Demand>();
  const asked: Asked[] = [];
  let last: KeptStep | null = null;
  let deferred = 0;
  const ask = <Value>(step: StepCode): Promise<Value> => {
    const name = names.next(step.id);
    demands.set(name, { name, code: step, after: last });
    const promise = new Promise<Value>((resolve, reject) => asked.push({ name, resolve, reject }));
    promise.catch(() => undefined);
    return promise;
  };
  const tools: Tools = {
    attempt,
    finalError: (message) => new Error(message),
    run: (step) => ask<Json>(step),
    sleep: (step) => ask(step),
    invoke: (step) => ask<Json>(step),
    wait: async (step) => (await ask<{ data: { n: number } } | null>(step))?.data.n ?? null,
    send: async (step) => (await ask<{ ids: string[] }>(step)).ids.length,
    signal: async (step) => {
      const found = await ask<{ data: { n: number } | DecisionValue } | null>(step);
      return found === null ? null : signalText(found.data);
    },
    ask: async (step) => {
      const found = await ask<DecisionValue | null>(step);
      return found === null ? null : decisionText(found);
    },
    tell: async (step) => (await ask<{ runId: string | null }>(step)).runId !== null,
    fetch: async (step) => (await ask<{ status_code: number }>(step)).status_code,
    defer: (step) => {
      const name = names.next(step.id);
      demands.set(name, { name, code: step, after: last });
      if (!step.isDropped) deferred++;
    },
  };
  let end: ReplayEnd = { kind: "waiting" };
  interpret(code, tools).then(
    (value) => (end = { kind: "returned", value }),
    (error: Error) => (end = { kind: "threw", message: error.message }),
  );
  const positions = new Map(kept.map(({ name }, position) => [name, position]));
  for (;;) {
    await turn();
    if ((end as ReplayEnd).kind !== "waiting") break;
    const ready = asked.filter(({ name }) => positions.has(name)).sort((a, b) => order(positions, a) - order(positions, b))[0];
    if (!ready) break;
    asked.splice(asked.indexOf(ready), 1);
    last = kept[order(positions, ready)] as KeptStep;
    handOver(ready, last);
  }
  return { end, demands, deferred };
}

function order(positions: ReadonlyMap<string, number>, { name }: Asked): number {
  return positions.get(name) as number;
}

function handOver({ resolve, reject }: Asked, { status, value }: KeptStep): void {
  const parsed = JSON.parse(value) as { data?: unknown; error?: { message: string } } | null;
  if (status === "failed") reject(new Error(parsed?.error?.message ?? "?"));
  // An event stands for itself; every other result is wrapped.
  else resolve((isWrapped(parsed) ? parsed.data : parsed) as never);
}

function isWrapped(value: object | null): value is { data: unknown } {
  return value !== null && Object.keys(value).length === 1 && "data" in value;
}
