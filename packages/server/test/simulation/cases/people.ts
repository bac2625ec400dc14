/** What people do meanwhile. */

import assert from "node:assert/strict";
import type { Outcome } from "../simulate.ts";
import { all, allCompleted, type Case, events, fn, run, scenario, sequence, waitFor } from "./parts.ts";

/** Their runs sleep, wait, and are called: of the last one, one at a time, while the others are queued. */
const UNENDED = [
  fn({ id: "asleep", code: sequence({ kind: "sleep", id: "s", ms: 60_000 }, run("b", 0)) }),
  fn({ id: "waiting", code: waitFor("w", 60_000) }),
  fn({ id: "running", code: run("a", 60_000), flow: { concurrency: { limit: 1 } } }),
];

function allCancelled({ played }: Outcome): void {
  assert.equal(played.runs.length, UNENDED.length * 4);
  assert.deepEqual([...new Set(played.runs.map(({ status }) => status))], ["cancelled"]);
}

export const PEOPLE_CASES: readonly Case[] = [
  {
    name: "a function that is invoked twice with one key runs once, also if the service is killed between",
    scenario: scenario({
      functions: [fn({ trigger: null, code: sequence(run("a", 20), { kind: "sleep", id: "s", ms: 1_000 }, run("b", 0)) })],
      events: [],
      invocations: Array.from({ length: 20 }, (_, n) => ({ atMs: 1_000 + n * 10, fn: "f", key: n % 4, n, times: 2 })),
      outages: [{ atMs: 1_100, kind: "kill", turns: 3, downMs: 200 }],
      writeMs: 5,
    }),
    expect: allCompleted,
  },
  {
    name: "a bulk cancellation ends runs that sleep, wait, are called and are queued",
    scenario: scenario({
      functions: UNENDED,
      events: events("t/0", 4, () => 1_000),
      cancellations: UNENDED.map(({ id }) => ({ atMs: 5_000, fn: id, key: null })),
    }),
    expect: allCancelled,
  },
  {
    name: "a bulk cancellation by key ends the runs of that key, and no others",
    scenario: scenario({
      functions: [fn({ code: sequence({ kind: "sleep", id: "s", ms: 60_000 }, run("b", 0)) })],
      events: events("t/0", 8, () => 1_000),
      cancellations: [{ atMs: 5_000, fn: "f", key: 1 }],
    }),
    expect({ played }) {
      assert.equal(played.runs.filter(({ status }) => status === "cancelled").length, 2);
      assert.equal(played.runs.filter(({ status }) => status === "completed").length, 6);
    },
  },
  {
    name: "a job that cancels ends runs that sleep, wait, are called and are queued",
    scenario: scenario({
      functions: UNENDED,
      events: events("t/0", 4, () => 1_000),
      jobs: UNENDED.map(({ id }) => ({ atMs: 5_000, kind: "runs.cancel", fn: id })),
    }),
    expect: allCancelled,
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
    name: "a limit that is set without a deploy holds for runs that were there before it, and counts their calls in progress",
    scenario: scenario({
      functions: [
        fn({ code: sequence(run("a", 3_000), { kind: "sleep", id: "s", ms: 1_000 }, run("b", 400)) }),
        fn({ id: "g", trigger: { event: "t/1", onlyOdd: false }, code: run("a", 2_000) }),
      ],
      events: [...events("t/0", 20, () => 1_000), ...events("t/1", 100, () => 3_000)].map((event, n) => ({ ...event, n })),
      functionLimits: [
        { atMs: 2_000, forMs: 8_000, fn: "f", limit: 2 },
        { atMs: 4_000, forMs: 5_000, fn: "g", limit: 3 },
      ],
      quotas: [{ atMs: 12_000, forMs: 5_000, quota: "callsAtOnce", room: 4 }],
      outages: [{ atMs: 6_000, kind: "kill", turns: 0, downMs: 100 }],
    }),
    expect: allCompleted,
  },
  {
    name: "in an archived environment nothing is called, and everything ends when it is unarchived",
    scenario: scenario({
      functions: [
        fn({ code: sequence(run("a", 400), { kind: "sleep", id: "s", ms: 1_000 }, run("b", 0)), flow: { concurrency: { limit: 10 } } }),
        fn({ id: "g", flow: { batchEvents: { maxSize: 5, timeout: "2s" } } }),
      ],
      events: events("t/0", 60, (i) => 1_000 + i * 50),
      archives: [1_500, 4_000].map((atMs) => ({ atMs, forMs: 2_000 })),
      outages: [{ atMs: 4_500, kind: "kill", turns: 0, downMs: 200 }],
    }),
    expect: allCompleted,
  },
  {
    name: "a rerun from a step keeps the results from before it, and a whole one keeps none",
    scenario: scenario({
      functions: [
        fn({
          code: sequence(
            run("a", 20),
            all([run("b", 10), { kind: "sleep", id: "s", ms: 1_000 }, waitFor("w", 2_000)]),
            { kind: "send", id: "told", event: "n/noted" },
            run("c", 5),
          ),
        }),
      ],
      events: events("t/0", 4, () => 1_000),
      reruns: Array.from({ length: 12 }, (_, i) => ({ atMs: 10_000 + i * 100, pick: i % 4, step: i === 0 ? null : i })),
      outages: [{ atMs: 10_550, kind: "kill", turns: 0, downMs: 200 }],
    }),
    expect(outcome) {
      allCompleted(outcome);
      assert.ok(outcome.played.runs.length > 10, `only ${outcome.played.runs.length} runs`);
    },
  },
  {
    name: "jobs do each item once through kills",
    scenario: scenario({
      functions: [
        fn({ code: sequence(run("a", 200), { kind: "sleep", id: "s", ms: 5_000 }, run("b", 50)) }),
        fn({ id: "g", sdk: "v4", code: run("a", 20) }),
        fn({ id: "h", code: { kind: "sleep", id: "s", ms: 60_000 } }),
      ],
      events: events("t/0", 60, (i) => 1_000 + i * 20),
      jobs: [
        { atMs: 4_000, kind: "runs.rerun", fn: "f" },
        { atMs: 4_100, kind: "events.replay", fn: "g" },
        { atMs: 4_300, kind: "runs.cancel", fn: "h" },
      ],
      outages: [4_150, 4_600, 5_100].map((atMs, turns) => ({ atMs, kind: "kill", turns, downMs: 100 }) as const),
    }),
    expect({ played }) {
      assert.deepEqual(played.jobs.map(({ kind, done, failed }) => [kind, done, failed]).sort(), [
        ["events.replay", 60, 0],
        ["runs.cancel", 60, 0],
        ["runs.rerun", 60, 0],
      ]);
      assert.equal(played.runs.length, 300);
    },
  },
  {
    name: "jobs that are cancelled have done their oldest items, once, and no others",
    scenario: scenario({
      functions: [
        fn({ code: run("a", 20) }),
        fn({ id: "g", sdk: "v4", trigger: { event: "t/0", onlyOdd: true }, code: run("a", 20) }),
        fn({ id: "h", code: { kind: "sleep", id: "s", ms: 60_000 } }),
      ],
      events: events("t/0", 40, (i) => 1_000 + i * 50),
      jobs: [
        { atMs: 4_000, kind: "runs.rerun", fn: "f", rate: 20, cancelAfterMs: 1_000 },
        { atMs: 4_100, kind: "events.replay", fn: "g", rate: 20, cancelAfterMs: 1_000 },
        { atMs: 4_300, kind: "runs.cancel", fn: "h", rate: 20, cancelAfterMs: 1_000 },
      ],
      outages: [{ atMs: 4_700, kind: "kill", turns: 2, downMs: 100 }],
      // Most of the time, items are being worked on.
      writeMs: 100,
    }),
    expect({ played }) {
      assert.deepEqual(
        played.jobs.map(({ status, done, total }) => [status, done > 0 && done < total]),
        Array.from({ length: 3 }, () => ["cancelled", true]),
      );
    },
  },
  {
    name: "an alert is raised and resolved in turn, each told once, through kills",
    scenario: scenario({
      functions: [fn({ code: { kind: "throw", fails: 99, final: true } })],
      events: events("t/0", 10, (i) => 1_000 + i * 30_000),
      alerts: [
        { atMs: 500, forMs: 300_000, fn: "f", threshold: 1, windowMs: 10_000 },
        { atMs: 500, forMs: 300_000, fn: "f", threshold: 2, windowMs: 60_000, disabledForMs: 10_000 },
        { atMs: 500, forMs: 300_000, fn: "f", threshold: 3, windowMs: 600_000 },
      ],
      outages: [35_000, 70_000].map((atMs, turns) => ({ atMs, kind: "kill", turns, downMs: 200 }) as const),
    }),
    expect({ played }) {
      const told = Map.groupBy(played.events, ({ name }) => name);
      const [raised, resolved] = ["inlet/alert.raised", "inlet/alert.resolved"].map((name) => told.get(name)?.length ?? 0);
      assert.deepEqual([resolved, (raised ?? 0) > 10], [raised, true]);
    },
  },
  {
    name: "a rerun of a run that holds up its key does not start beside a call of it",
    scenario: scenario({
      functions: [
        fn({
          code: sequence({ kind: "race", parts: [run("quick", 0), run("slow", 5_000)] }, { kind: "throw", fails: 99, final: true }),
          flow: { ordering: { key: "event.data.k", onFailure: "hold" } },
        }),
      ],
      events: events("t/0", 8, () => 1_000),
      reruns: [{ atMs: 2_000, pick: 0, step: null }],
    }),
  },
];
