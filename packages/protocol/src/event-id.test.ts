import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator, isEventId, parseEventIdSeed, seededEventId } from "./event-id.ts";

test("ids are ULIDs of the time they were made", () => {
  const id = createEventIdGenerator().next(1_469_918_176_385);
  assert.ok(isEventId(id));
  // The time part of the ULID specification's own example.
  assert.equal(id.slice(0, 10), "01ARYZ6S41");
});

test("ids only grow, within a millisecond and when the clock steps back", () => {
  const ids = createEventIdGenerator();
  const times = [1_000, 1_000, 1_000, 999, 5, 1_001, 1_001];
  const made = times.map((time) => ids.next(time));
  assert.deepEqual(made, made.toSorted());
  assert.equal(new Set(made).size, made.length);
});

test("counting up carries from the low half to the high half", () => {
  const ids = createEventIdGenerator((bytes) => bytes.fill(0xff));
  const first = ids.next(1);
  const second = ids.next(1);
  assert.equal(first.slice(10), "FZZZZZZZZZZZZZZZ");
  assert.equal(second.slice(10), "G000000000000000");
});

test("100,000 ids are all different", () => {
  const ids = createEventIdGenerator();
  const made = new Set(Array.from({ length: 100_000 }, (_, i) => ids.next(1_000_000 + Math.floor(i / 100))));
  assert.equal(made.size, 100_000);
});

test("a seed gives the same ids again, each position its own", () => {
  const entropy = Uint8Array.from([1, 2, 3, 4, 5, 6, 0, 0, 0, 0]);
  const seed = parseEventIdSeed(`1700000000000,${Buffer.from(entropy).toString("base64")}`);
  assert.ok(seed);
  const [first, second] = [seededEventId(seed, 1), seededEventId(seed, 2)];
  assert.equal(first, seededEventId(seed, 1));
  assert.equal(first.slice(0, -1), second.slice(0, -1));
  assert.equal(`${first.at(-1)}${second.at(-1)}`, "12");
});

test("the position is added to the last four bytes and wraps around in them", () => {
  const seed = { timeMs: 1, entropy: Uint8Array.from([0, 0, 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff]) };
  const wrapped = seededEventId({ timeMs: 1, entropy: Uint8Array.from([0, 0, 0, 0, 0, 7, 0, 0, 0, 0]) }, 0);
  assert.equal(seededEventId(seed, 1), wrapped);
});

test("a malformed seed is no seed", () => {
  const good = Buffer.alloc(10).toString("base64");
  for (const header of [
    "",
    "abc",
    `,${good}`,
    `1.5,${good}`,
    `-1,${good}`,
    "1700000000000",
    "1700000000000,AAAA",
    `999999999999999,${good}`,
  ]) {
    assert.equal(parseEventIdSeed(header), null, header);
  }
});
