import assert from "node:assert/strict";
import { test } from "node:test";
import { createEventIdGenerator, eventIdTime, firstIdAt, isEventId, parseEventIdSeed, seededEventId, seedHeaderOf } from "./event-id.ts";

test("ids are ULIDs of the time they were made", () => {
  const id = createEventIdGenerator().next(1_469_918_176_385);
  assert.ok(isEventId(id));
  // The time part of the ULID specification's own example.
  assert.equal(id.slice(0, 10), "01ARYZ6S41");
  assert.equal(eventIdTime(id), 1_469_918_176_385);
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

test("a text is an Event ID only as a whole", () => {
  const id = "01ARYZ6S41TSV4RRFFQ69G5FAV";
  assert.equal(isEventId(id), true);
  for (const text of [`0${id}`, `${id}0`, id.slice(1), id.toLowerCase(), `8${id.slice(1)}`, id.replace("V", "U"), "", `${id}\n`])
    assert.equal(isEventId(text), false, text);
});

test("the lowest id of a millisecond is its time and zeros; times that no id has are the first or the last", () => {
  assert.equal(firstIdAt(1_469_918_176_385), `01ARYZ6S41${"0".repeat(16)}`);
  assert.equal(firstIdAt(-5), "0".repeat(26));
  assert.equal(firstIdAt(2 ** 48 - 1), `7ZZZZZZZZZ${"0".repeat(16)}`);
  assert.equal(firstIdAt(2 ** 48), `7ZZZZZZZZZ${"0".repeat(16)}`);
});

test("within a millisecond an id is one more than the one before", () => {
  const ids = createEventIdGenerator((bytes) => bytes.fill(0));
  assert.deepEqual(
    [ids.next(1), ids.next(1), ids.next(0)].map((id) => id.slice(10)),
    ["0", "1", "2"].map((last) => last.padStart(16, "0")),
  );
});

test("entropy is fetched for four hundred ids at a time, and used once", () => {
  let fetched = 0;
  const ids = createEventIdGenerator((bytes) => {
    fetched++;
    for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(at / 10) % 256;
  });
  const made = Array.from({ length: 400 }, (_, n) => ids.next(n).slice(10));
  assert.equal(fetched, 1);
  assert.notEqual(made[0], made[1]);
  ids.next(400);
  assert.equal(fetched, 2);
});

test("two generators make different ids", () => {
  assert.notEqual(createEventIdGenerator().next(1), createEventIdGenerator().next(1));
});

test("a seed is read in both alphabets of base64, with and without padding, and to its last millisecond", () => {
  const entropy = Uint8Array.from([0xfb, 0xff, 0xbf, 0xfe, 0xff, 0xef, 0xfb, 0xff, 0xbf, 0xfe]);
  const base64 = Buffer.from(entropy).toString("base64");
  const url = Buffer.from(entropy).toString("base64url");
  assert.ok(/[+].*[/]|[/].*[+]/.test(base64) && /-.*_|_.*-/.test(url), "both characters that differ");
  for (const text of [base64, url, base64.replace(/=+$/, "")])
    assert.deepEqual(parseEventIdSeed(` ${2 ** 48 - 1},${text} `), { timeMs: 2 ** 48 - 1, entropy }, text);
  assert.equal(parseEventIdSeed(`${2 ** 48},${base64}`), null);
  assert.equal(parseEventIdSeed(`1,${base64}=`), null);
  assert.equal(parseEventIdSeed(`x1,${base64}`), null);
});

test("a seed gives the id it was made from, also where the last bytes are zero", () => {
  const ids = createEventIdGenerator();
  const samples = Array.from({ length: 500 }, (_, n) => ids.next(1_700_000_000_000 + n) as string);
  for (const id of [...samples, "01JCQ7V8Z0AAAAAAAAA0000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "00000000000000000000000000"]) {
    const seed = parseEventIdSeed(seedHeaderOf(id));
    assert.ok(seed, id);
    assert.equal(seededEventId(seed, 1), id);
  }
});
