/**
 * Scenarios that once went wrong, each by its own cause, kept as they were found. A case may say what must hold beyond what the model
 * checks in every scenario.
 */

import assert from "node:assert/strict";
import {
  type Code,
  FETCH_ID,
  QUIET_NETWORK,
  type RunCode,
  type Scenario,
  type SdkName,
  type SimEvent,
  type SimFunction,
} from "./scenario.ts";
import type { Outcome } from "./simulate.ts";

export interface Case {
  name: string;
  scenario: Scenario;
  /** Beside everything the model checks. */
  expect?(outcome: Outcome): void;
  /** The model knows nothing of what goes wrong here: only `expect` counts. */
  isBeyondModel?: boolean;
}

const TWO_LIMITS = {
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

const ORDERED = { ordering: { key: "event.data.k", onFailure: "hold" } } as const;

export const CASES: readonly Case[] = [
  ...(["own", "v3", "v4"] as const).map((sdk) => ({
    name: `twenty parallel steps and one after them, without retries (${sdk})`,
    scenario: scenario({
      // Each in a function of its own, so that our SDK, too, has to ask after each of them.
      functions: [
        fn({ sdk, code: sequence(all(Array.from({ length: 20 }, (_, i) => sequence(run(`p${i}`, (i * 7) % 40)))), run("after", 0)) }),
      ],
      events: events("t/0", 20, () => 1_000),
      network: { ...QUIET_NETWORK, latencyMs: 10 },
      jumble: 0.5,
    }),
    expect: allCompleted,
  })),
  {
    name: "a call that was superseded hands nothing in (v4)",
    scenario: scenario({
      functions: [
        fn({
          sdk: "v4",
          retries: 3,
          code: sequence(run("a", 0), { ...run("b", 10), firstTookMs: 120_000 }, run("c", 150_000), run("d", 0)),
        }),
      ],
      events: events("t/0", 1, () => 1_000),
      cuts: { "v4-f/0/-/0": 1_000 },
      callTimeoutMs: 600_000,
    }),
    expect: allCompleted,
  },
  {
    name: "a throttle holds after a pause",
    scenario: scenario({
      functions: [fn({ flow: { throttle: { limit: 5, period: "1s" } } })],
      events: events("t/0", 80, () => 1_000),
      outages: [{ atMs: 2_000, kind: "kill", turns: 0, downMs: 8_000 }],
    }),
    expect: allCompleted,
  },
  {
    name: "a wait takes no event from before it (v4)",
    scenario: scenario({
      functions: [
        fn({ sdk: "v4", code: sequence(run("a", 5_000), { kind: "wait", id: "w", event: "w/a", by: "any", timeoutMs: 20_000 }) }),
      ],
      events: [...events("t/0", 3, () => 1_000), { atMs: 3_000, name: "w/a", key: 0, n: 3 }],
    }),
    expect({ played }) {
      for (const { output } of played.runs)
        assert.equal(output, '["a of 0","w timed out"]'.replace("0", output?.match(/of (\d+)/)?.[1] ?? "?"));
    },
  },
  {
    name: "a long step is not blamed for a service that is killed again and again",
    scenario: scenario({
      functions: [fn({ code: sequence(run("long", 60_000)) }), fn({ id: "g", code: sequence(run("long", 60_000), run("more", 60_000)) })],
      events: events("t/0", 4, (i) => 1_000 + i * 10),
      outages: Array.from({ length: 10 }, (_, i) => ({ atMs: 5_000 + i * 5_000, kind: "kill", turns: i, downMs: 200 }) as const),
      callTimeoutMs: 600_000,
    }),
    expect: allCompleted,
  },
  {
    name: "a call that outlives its run keeps its slot",
    scenario: scenario({
      functions: [fn({ code: { kind: "race", parts: [run("quick", 0), run("slow", 5_000)] }, flow: { concurrency: { limit: 2 } } })],
      events: [1_000, 2_000, 3_000].map((atMs, n) => ({ atMs, name: "t/0", key: 0, n })),
    }),
    expect: allCompleted,
  },
  {
    name: "of two waits in a row, the second takes no event from before the first had ended",
    scenario: scenario({
      functions: [
        fn({
          code: sequence(
            { kind: "wait", id: "first", event: "w/b", by: "any", timeoutMs: 60_000 },
            { kind: "wait", id: "second", event: "w/a", by: "any", timeoutMs: 60_000 },
          ),
        }),
      ],
      events: [...events("t/0", 1, () => 1_000), ...["w/a", "w/b"].map((name, i) => ({ atMs: 5_000 + i * 5_000, name, key: 0, n: 1 + i }))],
    }),
    expect: ({ played }) => assert.equal(played.runs[0]?.output, '["first got 2","second timed out"]'),
  },
  {
    name: "an event counts for a wait that was on its way when another wait took it (v4)",
    scenario: scenario({
      functions: [
        fn({
          sdk: "v4",
          code: {
            kind: "race",
            parts: [
              all([waitFor("early", 20_000), { kind: "sleep", id: "s", ms: 5_000 }]),
              sequence({ kind: "send", id: "told", event: "n/noted" }, run("a", 0), waitFor("late", 2_000)),
            ],
          },
        }),
      ],
      // One event for each run, at every moment of its first two seconds.
      events: Array.from({ length: 80 }, (_, i) => i).flatMap((i) => [
        { atMs: 1_000, name: "t/0", key: i, n: i },
        { atMs: 1_000 + i * 25, name: "w/a", key: i, n: 80 + i },
      ]),
      network: { ...QUIET_NETWORK, latencyMs: 200 },
    }),
  },
  {
    name: "a call that outlives its run holds up the next run of its order",
    scenario: scenario({
      functions: [
        fn({
          code: { kind: "race", parts: [run("quick", 0), run("slow", 5_000)] },
          flow: { ordering: { key: "event.data.k", onFailure: "continue" } },
        }),
      ],
      events: events("t/0", 12, () => 1_000),
    }),
    expect: allCompleted,
  },
  {
    name: "runs of a key start in order through kills, and wait behind a failure on hold",
    scenario: scenario({
      functions: [
        fn({ code: sequence(run("a", 300), run("b", 100)), flow: ORDERED }),
        fn({ id: "g", code: { ...run("a", 50), fails: 99, error: "final" }, flow: ORDERED }),
      ],
      events: events("t/0", 24, (i) => 1_000 + i * 20),
      outages: [1_500, 2_600].map((atMs) => ({ atMs, kind: "kill", turns: 3, downMs: 200 }) as const),
    }),
  },
  {
    name: "of two limits by the same key the lower one holds",
    scenario: scenario(TWO_LIMITS),
    expect: allCompleted,
  },
  {
    name: "a wait sees events since the steps that its call was given, also when the last parallel step ended during that call",
    scenario: scenario({
      functions: [
        fn({
          code: sequence(
            all([
              { kind: "send", id: "told", event: "n/noted" },
              { kind: "race", parts: [run("slow", 44), run("quick", 0)] },
            ]),
            { kind: "wait", id: "w", event: "w/a", by: "match", timeoutMs: 2_000 },
          ),
        }),
      ],
      // One event for each run, at every moment of its first tenth of a second.
      events: Array.from({ length: 50 }, (_, i) => i).flatMap((i) => [
        { atMs: 1_000, name: "t/0", key: i, n: i },
        { atMs: 1_000 + i * 2, name: "w/a", key: i, n: 50 + i },
      ]),
      network: { ...QUIET_NETWORK, latencyMs: 20 },
    }),
  },
  {
    name: "a function that is paused is not called: not for runs that sleep, nor for runs that begin at that moment",
    scenario: scenario({
      functions: [
        fn({ code: sequence(run("a", 20), { kind: "sleep", id: "s", ms: 1_000 }, run("b", 0)), flow: { timeouts: { finish: "10m" } } }),
      ],
      events: events("t/0", 120, (i) => 1_000 + i * 10),
      pauses: Array.from({ length: 8 }, (_, i) => ({ atMs: 1_200 + i * 400, fn: "f", forMs: 200 })),
    }),
    expect: allCompleted,
  },
  {
    name: "a function that is paused while the start of a run is being stored is not called for it",
    scenario: scenario({
      functions: [fn({ code: run("a", 5), flow: { timeouts: { finish: "10m" } } })],
      events: events("t/0", 20, (i) => 1_000 + i),
      pauses: [{ atMs: 1_010, fn: "f", forMs: 1_000 }],
      writeMs: 5,
    }),
    expect: allCompleted,
  },
  {
    name: "a request that its run did not wait for is dropped when the service is killed during it",
    scenario: scenario({
      functions: [
        fn({
          code: {
            kind: "race",
            parts: [run("quick", 0), { kind: "fetch", id: FETCH_ID, fails: 0, status: 200, tookMs: 3_000 }],
          },
        }),
      ],
      events: events("t/0", 2, () => 1_000),
      outages: [{ atMs: 2_000, kind: "kill", turns: 0, downMs: 200 }],
    }),
    expect: allCompleted,
  },
  {
    name: "an app that cannot fetch large state is not called without end",
    scenario: scenario({
      functions: [
        fn({
          sdk: "v3",
          code: sequence(...Array.from({ length: 6 }, (_, i) => ({ ...run(`large${i}`, 0), bytes: 1_000_000 })), run("after", 0)),
        }),
      ],
      events: events("t/0", 1, () => 1_000),
      ignoreUseApi: true,
    }),
    isBeyondModel: true,
    expect({ played }) {
      assert.deepEqual(
        played.runs.map(({ status }) => status),
        ["failed"],
      );
      assert.ok(played.journal.calls.length < 20, `it was called ${played.journal.calls.length} times`);
    },
  },
];

/** For nodes that share a store, in real time. */
export const SHARED_CASES: readonly Case[] = [
  {
    name: "runs of a key start in order, one at a time, whichever node has them, and one of them is killed",
    scenario: scenario({
      functions: [fn({ code: sequence(run("a", 20), run("b", 20)), flow: { ordering: { key: "event.data.k", onFailure: "continue" } } })],
      events: events("t/0", 60, (i) => 100 + i * 20),
      outages: [{ atMs: 700, node: 0, kind: "kill", turns: 0, downMs: 1_000 }],
      nodes: 2,
      leaseMs: 5_000,
      isRealTime: true,
      jumble: 1,
    }),
    expect: allCompleted,
  },
  {
    name: "of two limits by the same key the lower one holds",
    scenario: scenario({ ...TWO_LIMITS, nodes: 2, isRealTime: true, jumble: 1 }),
    expect: allCompleted,
  },
  {
    name: "a node that was cut off from the store for longer than a lease calls nobody for what others hold by now",
    scenario: scenario({
      functions: [fn({ code: sequence(run("a", 200), run("b", 200)), flow: { concurrency: { limit: 3 } } })],
      events: events("t/0", 160, (i) => 100 + i * 5),
      outages: [{ atMs: 3_000, node: 0, kind: "cut-off", turns: 0, downMs: 10_000 }],
      nodes: 2,
      leaseMs: 5_000,
      isRealTime: true,
      jumble: 1,
    }),
    expect: allCompleted,
  },
];

function allCompleted({ played }: Outcome): void {
  assert.deepEqual([...new Set(played.runs.map(({ status }) => status))], ["completed"]);
}

function scenario(given: Partial<Scenario> & Pick<Scenario, "functions" | "events">): Scenario {
  return { seed: 1, outages: [], refusals: [], network: QUIET_NETWORK, jumble: 0, callTimeoutMs: 60_000, ...given };
}

function fn(given: Partial<SimFunction> & { sdk?: SdkName }): SimFunction {
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

function events(name: string, count: number, at: (index: number) => number): SimEvent[] {
  return Array.from({ length: count }, (_, n) => ({ atMs: at(n), name, key: n % 4, n }));
}

function waitFor(id: string, timeoutMs: number): Code {
  return { kind: "wait", id, event: "w/a", by: "match", timeoutMs };
}

function run(id: string, tookMs: number): RunCode {
  return { kind: "run", id, fails: 0, error: "plain", tookMs };
}

function all(parts: Code[]): Code {
  return { kind: "all", parts };
}

function sequence(...parts: Code[]): Code {
  return { kind: "sequence", parts };
}
