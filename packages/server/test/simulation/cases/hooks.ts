/** Requests to webhooks whose transforms run in the sandbox. */

import assert from "node:assert/strict";
import { DRILL_KINDS } from "@inlet/protocol";
import { type Case, fn, run, scenario, sequence } from "./parts.ts";

const requests = Array.from({ length: 20 }, (_, index) => ({
  afterMs: 100 + index * 200,
  name: "t/0",
  key: index % 4,
  n: 40_000 + index,
  isLost: false,
  hasId: index % 2 === 0,
}));

export const HOOK_CASES: readonly Case[] = [
  {
    name: "requests that a broken transform refused are stored once when it is repaired and they are replayed, through kills",
    scenario: scenario({
      functions: [fn({ code: run("a", 20) })],
      events: [],
      hooks: [
        {
          atMs: 1_000,
          rotateAfterMs: 2_500,
          overlapMs: 500,
          requests,
          reconciledAfterMs: [],
          transform: "counting",
          brokenForMs: 2_000,
          replays: [
            { afterMs: 3_500, pick: 3 },
            { afterMs: 3_600, pick: null },
          ],
        },
      ],
      // The second one when the first job has stored what it replays, and not yet how far it came.
      outages: [2_600, 4_610].map((atMs) => ({ atMs, kind: "kill", turns: 0, downMs: 100 }) as const),
      writeMs: 20,
    }),
    expect({ played }) {
      assert.ok(played.requests.some(({ outcome }) => outcome === "transform_failed"));
      const stored = new Set(played.events.map(({ data }) => (JSON.parse(data) as { n: number }).n));
      assert.deepEqual([...stored].sort(), requests.map(({ n }) => n).sort());
    },
  },
  {
    name: "a drill sends each of its requests once, and reports what became of it, through a kill",
    scenario: scenario({
      functions: [
        fn({
          id: "d0",
          sdk: "mirror",
          trigger: { event: "d/0", onlyOdd: false },
          code: sequence({ kind: "sleep", id: "s", ms: 3_000 }, run("a", 20)),
        }),
      ],
      events: [],
      drills: [
        { atMs: 1_000, requests: [60_000, 60_001, 60_002].map((n) => ({ key: 0, n })), hasIds: false, kinds: [DRILL_KINDS, ["retries"]] },
      ],
      outages: [{ atMs: 1_150, kind: "kill", turns: 2, downMs: 100 }],
    }),
    expect({ played }) {
      assert.deepEqual(played.drills.map(({ status, total }) => [status, total]).sort(), [
        ["completed", 18],
        ["completed", 6],
      ]);
    },
  },
];
