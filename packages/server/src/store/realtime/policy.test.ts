import assert from "node:assert/strict";
import { test } from "node:test";
import type { EnvironmentId } from "@inlet/protocol";
import type { NewRealtimeMessage } from "../contract/index.ts";
import { TrimMeter } from "./policy.ts";

const ENVIRONMENT = 1 as EnvironmentId;
const PER_TRIM = 500;

function messages(channels: readonly string[]): NewRealtimeMessage[] {
  return channels.map((channel) => ({ channel, topic: "t", text: "{}", runId: null }));
}

test("a channel is due after so many messages, and of very many channels the oldest are not counted any more", () => {
  const meter = new TrimMeter();
  const add = (channels: readonly string[]) => meter.add(ENVIRONMENT, messages(channels)).channels;
  const nearlyDue = (channel: string) => add(Array(PER_TRIM - 1).fill(channel));
  nearlyDue("a");
  assert.deepEqual(add(["a"]), ["a"]);
  nearlyDue("b");
  add(Array.from({ length: 10_000 }, (_, n) => `other ${n}`));
  assert.deepEqual(add(["b"]), [], "counted from the beginning again");
});
