/** What cases are made of. */

import assert from "node:assert/strict";
import type { SimEvent } from "../deeds/deeds.ts";
import { type Code, QUIET_NETWORK, type RunCode, type Scenario, type SdkName, type SimFunction } from "../scenario.ts";
import type { Outcome } from "../simulate.ts";

export interface Case {
  name: string;
  scenario: Scenario;
  /** Beside everything the model checks. */
  expect?(outcome: Outcome): void;
  /** The model knows nothing of what goes wrong here: only `expect` counts. */
  isBeyondModel?: boolean;
}

export const TWO_LIMITS = {
  functions: [
    fn({
      code: run("a", 100),
      flow: {
        concurrency: [
          { limit: 1, key: "event.data.k" },
          { limit: 2, key: "event.data.k" },
        ],
      },
    }),
  ],
  events: events("t/0", 24, () => 1_000),
};

export function allCompleted({ played }: Outcome): void {
  assert.deepEqual([...new Set(played.runs.map(({ status }) => status))], ["completed"]);
}

export function scenario(given: Partial<Scenario> & Pick<Scenario, "functions" | "events">): Scenario {
  return { seed: 1, outages: [], refusals: [], network: QUIET_NETWORK, jumble: 0, callTimeoutMs: 60_000, ...given };
}

export function fn(given: Partial<SimFunction> & { sdk?: SdkName }): SimFunction {
  const usual = {
    id: "f",
    sdk: "own",
    trigger: { event: "t/0", onlyOdd: false },
    retries: 0,
    code: run("a", 0),
    onFailure: false,
    cancelOn: null,
    flow: {},
  } as const;
  return { ...usual, ...given };
}

export function events(name: string, count: number, at: (index: number) => number): SimEvent[] {
  return Array.from({ length: count }, (_, n) => ({ atMs: at(n), name, key: n % 4, n }));
}

export function waitFor(id: string, timeoutMs: number): Code {
  return { kind: "wait", id, event: "w/a", by: "match", timeoutMs };
}

export function run(id: string, tookMs: number): RunCode {
  return { kind: "run", id, fails: 0, error: "plain", tookMs };
}

export function all(parts: Code[]): Code {
  return { kind: "all", parts };
}

export function sequence(...parts: Code[]): Code {
  return { kind: "sequence", parts };
}
