/** Reads what a subscriber sends over its WebSocket. Nothing of a frame is used before all of it has been checked here. */

import { isTopicName, TOPICS_MAX } from "./read-topics.ts";
import type { RealtimeTopic } from "./tokens.ts";

/** A subscriber adds topics with a token for them, and removes others by name. */
export type Frame = { kind: "sub"; token: string } | { kind: "unsub"; topics: RealtimeTopic[] };

/** Null for anything else: it is ignored, so that a client may send what a later version understands. */
export function readFrame(text: string): Frame | null {
  const frame = parsed(text);
  if (!isRecord(frame)) return null;
  const { kind, data } = frame;
  if (kind === "sub" && typeof data === "string") return { kind, token: data };
  if (kind !== "unsub" || !Array.isArray(data) || data.length > TOPICS_MAX || !data.every(isTopic)) return null;
  return { kind, topics: data.map(({ channel, name }) => ({ channel, name })) };
}

function isTopic(value: unknown): value is RealtimeTopic {
  return isRecord(value) && isTopicName(value.channel) && isTopicName(value.name);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
