/** Steps, waits and requests. */

import assert from "node:assert/strict";
import { FETCH_ID, QUIET_NETWORK } from "../scenario.ts";
import { all, allCompleted, type Case, events, fn, run, scenario, sequence, waitFor } from "./parts.ts";

export const STEP_CASES: readonly Case[] = [
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
    name: "a step has all its retries after a call of its function that was lost",
    scenario: scenario({
      functions: [fn({ retries: 1, code: { ...run("a", 0), fails: 99 } })],
      events: events("t/0", 1, () => 1_000),
      cuts: { "own-f/0/-/0": 0 },
    }),
    expect: ({ played }) => assert.equal(played.runs[0]?.steps[0]?.attempts, 2),
  },
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
    name: "a call that is delivered twice ends with the results that are stored: one of its signals reaches a run, one reaches nobody (v4)",
    scenario: scenario({
      functions: [
        fn({ id: "waits", code: { kind: "signal", id: "s", signal: "s/a", onConflict: "fail", timeoutMs: 60_000 } }),
        fn({
          id: "tells",
          sdk: "v4",
          trigger: { event: "t/1", onlyOdd: false },
          code: sequence({ kind: "tell", id: "t", signal: "s/a" }, run("a", 5)),
        }),
      ],
      events: [...events("t/0", 4, () => 1_000), ...events("t/1", 4, (i) => 2_000 + i).map((event) => ({ ...event, n: event.n + 4 }))],
      network: { ...QUIET_NETWORK, twice: 1, latencyMs: 20 },
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
    name: "what a step brought is kept while the service stops and the store is away, and is stored when it is back",
    scenario: scenario({
      // The second makes the stop last long enough.
      functions: [
        fn({ code: { kind: "fetch", id: FETCH_ID, fails: 0, status: 200, tookMs: 500 } }),
        fn({ id: "slow", trigger: { event: "t/1", onlyOdd: false }, code: run("slow", 9_500) }),
      ],
      events: [...events("t/0", 5, () => 1_000), { atMs: 1_000, name: "t/1", key: 5, n: 5 }],
      outages: [{ atMs: 1_300, kind: "stop", turns: 0, downMs: 1_000 }],
      refusals: [{ atMs: 1_400, forMs: 1_000 }],
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
