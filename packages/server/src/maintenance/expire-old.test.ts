import assert from "node:assert/strict";
import { test } from "node:test";
import { pino } from "pino";
import { expireOld } from "./expire-old.ts";

const NOW = 10_000;

test("a sweep goes on from cursor to cursor; one that lost the leadership is forgotten, and the next one reads the rules anew", async () => {
  let keptMs = 1_000;
  const asked: [until: number, after: string | null][] = [];
  const sweeper = expireOld({
    what: "old things",
    perTransaction: 10,
    log: pino({ level: "silent" }),
    now: () => NOW,
    scopes: async () => [{ keptMs }],
    removeSome: async ({ until, after }) => {
      asked.push([until, after]);
      return { removed: 10, next: asked.length % 2 === 1 ? "further" : null };
    },
  });
  await sweeper.sweep();
  assert.deepEqual(asked.splice(0), [
    [9_000, null],
    [9_000, "further"],
  ]);
  await sweeper.sweep(() => asked.length === 0);
  keptMs = 5_000;
  await sweeper.sweep(() => asked.length < 2);
  assert.deepEqual(asked, [
    [9_000, null],
    [5_000, null],
  ]);
});
