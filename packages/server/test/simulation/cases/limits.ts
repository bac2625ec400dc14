/** Limits and orders. */

import { allCompleted, type Case, events, fn, run, scenario, sequence, TWO_LIMITS } from "./parts.ts";

const ORDERED = { ordering: { key: "event.data.k", onFailure: "hold" } } as const;

export const LIMIT_CASES: readonly Case[] = [
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
    name: "a call that outlives its run keeps its slot",
    scenario: scenario({
      functions: [fn({ code: { kind: "race", parts: [run("quick", 0), run("slow", 5_000)] }, flow: { concurrency: { limit: 2 } } })],
      events: [1_000, 2_000, 3_000].map((atMs, n) => ({ atMs, name: "t/0", key: 0, n })),
    }),
    expect: allCompleted,
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
];
