import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import { figuresOfRun, noFigures, sumOfMinutes } from "./policy.ts";

const HERE = 1 as EnvironmentId;
const counted = (...args: Parameters<typeof figuresOfRun>) =>
  figuresOfRun(...args).map(({ at, figures }) => [
    at,
    Object.entries(figures)
      .filter(([, n]) => n > 0)
      .flat(),
  ]);

test("a run counts once when its start is stored, and once when it ends, each at its own time", () => {
  const running = { status: "running", startedAt: 5, endedAt: null };
  assert.deepEqual(counted(HERE, { startedAt: null }, running), [[5, ["runsStarted", 1]]]);
  assert.deepEqual(counted(HERE, { startedAt: 5 }, running), []);
  assert.deepEqual(counted(HERE, { startedAt: 5 }, { ...running, status: "completed", endedAt: 9 }), [[9, ["runsCompleted", 1]]]);
  assert.deepEqual(counted(HERE, { startedAt: null }, { ...running, status: "failed", endedAt: 9 }), [
    [5, ["runsStarted", 1]],
    [9, ["runsFailed", 1]],
  ]);
  assert.deepEqual(counted(HERE, { startedAt: null }, { status: "cancelled", startedAt: null, endedAt: 9 }), []);
});

test("counts of one minute of an environment are one row, and rows are in a fixed order", () => {
  const minute = (environmentId: number, at: number, accepted: number) => ({
    environmentId: environmentId as EnvironmentId,
    at,
    figures: { ...noFigures(), accepted, refused: 1 },
  });
  const sums = sumOfMinutes([minute(2, 60_001, 1), minute(1, 119_999, 2), minute(1, 60_000, 3), minute(1, 0, 4)]);
  assert.deepEqual(
    sums.map(({ environmentId, at, figures }) => [environmentId, at, figures.accepted, figures.refused]),
    [
      [1, 0, 4, 1],
      [1, 60_000, 5, 2],
      [2, 60_000, 1, 1],
    ],
  );
});
