/** For nodes that share a store, in real time. */

import { allCompleted, type Case, events, fn, run, scenario, sequence, TWO_LIMITS } from "./parts.ts";

export const SHARED_CASES: readonly Case[] = [
  {
    name: "runs of a key start in order, one at a time, whichever node has them, and one of them is killed",
    scenario: scenario({
      functions: [fn({ code: sequence(run("a", 20), run("b", 20)), flow: { ordering: { key: "event.data.k", onFailure: "continue" } } })],
      events: events("t/0", 36, (i) => 100 + i * 20),
      outages: [{ atMs: 700, node: 0, kind: "kill", turns: 0, downMs: 1_000 }],
      nodes: 2,
      // A node that gets little of the machine still has time to make its calls.
      leaseMs: 20_000,
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
      functions: [fn({ code: sequence(run("a", 400), run("b", 400)), flow: { concurrency: { limit: 3 } } })],
      events: events("t/0", 100, (i) => 100 + i * 5),
      outages: [{ atMs: 3_000, node: 0, kind: "cut-off", turns: 0, downMs: 20_000 }],
      nodes: 2,
      leaseMs: 10_000,
      isRealTime: true,
      jumble: 1,
    }),
    expect: allCompleted,
  },
  {
    name: "a node whose store does not answer for longer than a lease gives up its calls before another node makes them",
    scenario: scenario({
      functions: [fn({ code: { ...run("a", 100), firstTookMs: 28_000 }, flow: { concurrency: { limit: 6 } } })],
      events: events("t/0", 6, () => 100),
      outages: [{ atMs: 2_000, node: 0, kind: "stall", turns: 0, downMs: 18_000 }],
      nodes: 2,
      leaseMs: 10_000,
      isRealTime: true,
      jumble: 1,
    }),
    expect: allCompleted,
  },
];
