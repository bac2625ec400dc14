/** Reads the requested topics of a token: a JSON array of `{channel, name}`. */

import { invalid, RestRefusal } from "../rest-errors.ts";
import type { RealtimeTopic } from "./tokens.ts";

/** Maximum length of a channel and of a topic. */
export const TOPIC_UNITS_MAX = 512;
export const TOPICS_MAX = 100;

export function readTopics(body: string): RealtimeTopic[] {
  const topics = parsed(body);
  if (!Array.isArray(topics) || topics.length === 0 || topics.length > TOPICS_MAX)
    throw new RestRefusal("body_invalid", `The body must be a JSON array of 1 to ${TOPICS_MAX} topics, each with channel and name.`);
  return topics.map((topic: { channel?: unknown; name?: unknown } | null) => {
    return { channel: name("channel", topic?.channel), name: name("name", topic?.name) };
  });
}

export function isTopicName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= TOPIC_UNITS_MAX;
}

function name(field: string, value: unknown): string {
  if (isTopicName(value)) return value;
  throw invalid(field, `of a topic must have 1 to ${TOPIC_UNITS_MAX} characters`);
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body ?? "");
  } catch {
    return null;
  }
}
