import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventItem } from "../api/types.ts";
import { EMPTY_TAIL, extendTail, joinTails, type Tail } from "./event-tail.ts";

const eventAt = (id: string, second = 0) => ({ id, receivedAt: new Date(second * 1_000).toISOString() }) as EventItem;
const idsOf = (tail: Tail) => tail.events.map(({ id }) => id).join(" ");

test("a tail is in the order of the list: by time, then the last one first", () => {
  const tail = extendTail(EMPTY_TAIL, [eventAt("a", 1), eventAt("b", 1), eventAt("c", 3), eventAt("late", 2)]);
  assert.equal(idsOf(tail), "c late b a");
  assert.equal(idsOf(extendTail(tail, [eventAt("c", 3), eventAt("d", 3)])), "d c late b a");
});

test("a tail counts what it drops, and takes nothing from below its end", () => {
  const full = extendTail(EMPTY_TAIL, [eventAt("a", 1), eventAt("b", 2), eventAt("c", 3)], 2);
  assert.deepEqual([idsOf(full), full.dropped], ["c b", 1]);
  const same = extendTail(full, [eventAt("a", 1)], 2);
  assert.deepEqual([idsOf(same), same.dropped], ["c b", 1]);
  const more = extendTail(same, [eventAt("d", 4), eventAt("e", 5)], 2);
  assert.deepEqual([idsOf(more), more.dropped], ["e d", 3]);
});

test("joined tails have no gap: what is below a newer one that dropped events is dropped too", () => {
  const older = extendTail(EMPTY_TAIL, [eventAt("a", 1), eventAt("b", 2)]);
  const newer = extendTail(EMPTY_TAIL, [eventAt("c", 3), eventAt("d", 4)]);
  assert.equal(idsOf(joinTails(newer, older)), "d c b a");
  const cut = joinTails({ ...newer, dropped: 5 }, older);
  assert.deepEqual([idsOf(cut), cut.dropped], ["d c", 7]);
});
