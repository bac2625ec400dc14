import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClaimedEntry } from "../../store/contract/index.ts";
import { Suspects } from "./suspects.ts";

function entry(changes: Partial<ClaimedEntry>): ClaimedEntry {
  return { no: 1, kind: "call", lane: "app:1", claims: 1, trials: 0, ...changes } as ClaimedEntry;
}

test("an entry is suspected after several deaths, and guilty only after several trials", () => {
  const suspects = new Suspects(async () => undefined);
  assert.deepEqual(
    [1, 3, 4, 50].map((claims) => suspects.isSuspect(entry({ claims }))),
    [false, false, true, true],
  );
  assert.deepEqual(
    [0, 4, 5].map((trials) => suspects.isGuilty(entry({ claims: 50, trials }))),
    [false, false, true],
  );
});

test("suspects begin one after the other, each noted before it begins", async () => {
  const log: string[] = [];
  const suspects = new Suspects(async ({ no }) => void log.push(`noted ${no}`));
  const ends: (() => void)[] = [];
  const work = (no: number) => () =>
    new Promise<void>((resolve) => {
      log.push(`begun ${no}`);
      ends.push(resolve);
    });
  const watched = [1, 2].map((no) => suspects.watch(entry({ no: no as ClaimedEntry["no"] }), work(no)));
  while (ends.length === 0) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(log, ["noted 1", "begun 1"]);
  ends[0]?.();
  await watched[0];
  while (ends.length === 1) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(log, ["noted 1", "begun 1", "noted 2", "begun 2"]);
  ends[1]?.();
  await watched[1];
});

test("a suspect that takes long does not hold up the next, nor does one that fails", async () => {
  const suspects = new Suspects(async () => undefined);
  const hanging = suspects.watch(entry({}), () => new Promise(() => undefined));
  const failing = suspects.watch(entry({}), () => Promise.reject(new Error("no")));
  await assert.rejects(failing, /no/);
  await suspects.watch(entry({}), async () => undefined);
  void hanging;
});
