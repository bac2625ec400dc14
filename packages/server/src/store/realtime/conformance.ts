import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import { CHANNEL_MESSAGES_MAX, type NewRealtimeMessage, type RealtimeMessage, type Store } from "../contract/index.ts";

function message(text: string, channel = "user:1"): NewRealtimeMessage {
  return { channel, topic: "status", text, runId: null };
}

/** The texts of all messages of these channels after a number, page by page. */
async function readAll(store: Store, environmentId: EnvironmentId, channels: readonly string[], after = 0, publishedAfter = 0) {
  const until = await store.realtimeLast({ environmentId });
  const found: RealtimeMessage[] = [];
  for (let reached = after; reached < until; ) {
    const cursors = channels.map((channel) => ({ channel, after: reached }));
    const page = await store.realtimeRead({ environmentId, cursors, until, publishedAfter, limit: 100 });
    found.push(...page.messages);
    assert.ok(page.reached > reached);
    reached = page.reached;
  }
  return found;
}

export function realtimeConformance(engine: Engine): void {
  test(`${engine.name}: realtime messages are numbered, reach whoever listens, whole and in order, and nobody who stopped; they stay`, async (t) => {
    const { store, reopen } = await engine.open(t);
    const [{ id: environmentId }, other] = [await makeEnvironment(store), await makeEnvironment(store, "staging")];
    const texts = ["1", '"\u0000 \\ ü"', JSON.stringify("x".repeat(50_000))];
    const heard: (RealtimeMessage | null)[] = [];
    const left: unknown[] = [];
    const stop = store.realtimeWatch((one) => one && heard.push(one));
    store.realtimeWatch((one) => left.push(one))();
    assert.equal(await store.realtimeLast({ environmentId }), 0);
    assert.deepEqual(
      await store.realtimePublish({ environmentId, messages: texts.slice(0, 2).map((text) => message(text)), now: 1 }),
      [1, 2],
    );
    assert.deepEqual(await store.realtimePublish({ environmentId: other.id, messages: [message("theirs")], now: 1 }), [1]);
    assert.deepEqual(await store.realtimePublish({ environmentId, messages: [message(texts[2] as string)], now: 2 }), [3]);
    const expected = texts.map((text, at) => ({ environmentId, number: at + 1, channel: "user:1", topic: "status", text }));
    assert.deepEqual(
      heard.filter((one) => one?.environmentId === environmentId),
      expected,
    );
    stop();
    await store.realtimePublish({ environmentId, messages: [message("4", "user:2")], now: 3 });
    assert.deepEqual([heard.length, left.length], [4, 0]);
    const there = await reopen();
    assert.equal(await there.realtimeLast({ environmentId }), 4);
    assert.deepEqual(await readAll(there, environmentId, ["user:1"]), expected);
    assert.deepEqual(
      (await readAll(there, environmentId, ["user:1", "user:2", "user:3"], 1)).map(({ number }) => number),
      [2, 3, 4],
    );
    assert.deepEqual(await there.realtimePublish({ environmentId, messages: [message("5")], now: 4 }), [5]);
  });

  test(`${engine.name}: publishers at the same time get numbers without gaps; each message is read once, whatever the pages`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const channels = ["a", "b", "c"];
    const large = JSON.stringify("y".repeat(100_000));
    const published = await Promise.all(
      Array.from({ length: 300 }, (_, n) =>
        store.realtimePublish({ environmentId, messages: [message(n % 50 === 0 ? large : String(n), channels[n % 3])], now: n + 1 }),
      ),
    );
    const numbers = published.flat().sort((one, other) => one - other);
    assert.deepEqual(
      numbers,
      Array.from({ length: 300 }, (_, n) => n + 1),
    );
    const read = (await readAll(store, environmentId, channels)).map(({ number }) => number);
    assert.deepEqual(read, numbers);
  });

  test(`${engine.name}: realtime messages expire, numbers do not come again, and a channel keeps its newest`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const kept = async (number: number, publishedAfter = 0) =>
      (await store.realtimeKept({ environmentId, numbers: [number, 0], publishedAfter })).length > 0;
    for (const now of [10, 20, 30]) await store.realtimePublish({ environmentId, messages: [message(String(now))], now });
    assert.deepEqual([await kept(1), await kept(1, 10), await kept(3, 20), await kept(4)], [true, false, true, false]);
    assert.equal((await readAll(store, environmentId, ["user:1"], 0, 10)).length, 2, "those published later");
    assert.equal(await store.realtimeExpireMany({ publishedUntil: 20, limit: 1 }), 1);
    assert.equal(await store.realtimeExpireMany({ publishedUntil: 20, limit: 10 }), 1);
    assert.equal(await store.realtimeExpireMany({ publishedUntil: 30, limit: 10 }), 1);
    assert.deepEqual(await readAll(store, environmentId, ["user:1"]), []);
    assert.deepEqual([await store.realtimeLast({ environmentId }), await kept(3)], [3, false]);
    assert.deepEqual(await store.realtimePublish({ environmentId, messages: [message("4")], now: 40 }), [4]);

    const floor = (channel: string) => store.realtimeFloor({ environmentId, channel });
    assert.deepEqual([await floor("user:1"), await floor("nobody")], [0, 0]);
    const many = Array.from({ length: CHANNEL_MESSAGES_MAX / 4 }, (_, n) => message(String(n), "busy"));
    for (let n = 0; n < 4; n++) await store.realtimePublish({ environmentId, messages: many, now: 50 });
    assert.equal(await floor("busy"), 0, "all of them are delivered");
    await store.realtimePublish({ environmentId, messages: many.slice(0, 600), now: 50 });
    const last = await store.realtimeLast({ environmentId });
    assert.equal(await floor("busy"), last - CHANNEL_MESSAGES_MAX);
    assert.equal(await kept(4), true, "other channels are not concerned");
  });
}
