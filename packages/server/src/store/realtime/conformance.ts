import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine } from "../conformance/engine.ts";
import { makeEnvironment } from "../conformance/samples.ts";
import type { RealtimeMessage } from "../contract/index.ts";

export function realtimeConformance(engine: Engine): void {
  test(`${engine.name}: realtime messages reach whoever listens, in order and whole, and nobody who stopped`, async (t) => {
    const { store } = await engine.open(t);
    const { id: environmentId } = await makeEnvironment(store);
    const messages = ["1", '"\u0000 \\ ü"', JSON.stringify("x".repeat(50_000))].map((text): RealtimeMessage => {
      return { environmentId, channel: "user:1", topic: "status", text };
    });
    const heard: RealtimeMessage[] = [];
    const left: RealtimeMessage[] = [];
    const stop = store.realtimeWatch((message) => heard.push(message));
    store.realtimeWatch((message) => left.push(message))();
    for (const message of messages) await store.realtimePublish(message);
    assert.deepEqual(heard, messages);
    stop();
    await store.realtimePublish(messages[0] as RealtimeMessage);
    assert.deepEqual([heard.length, left.length], [3, 0]);
  });
}
