/** Published messages as subscribers receive them, one for each topic. */

import { randomBytes } from "node:crypto";
import type { Refusal } from "@inlet/protocol";
import type { Environment, RealtimeStore } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";

export interface PublishParts {
  store: RealtimeStore;
  environmentUuid(id: Environment["id"]): string;
  /** Whether there is room for so many bytes. Null: the disk has no budget. */
  disk: { reserve(bytes: number): Refusal | null } | null;
  now(): number;
}

export interface PublishTarget {
  environment: Environment;
  channel: string;
  topics: readonly string[];
  runId: string | null;
}

const STREAM_BYTES_MAX = 4 * 1024 * 1024;

/** One message for each topic, all of them stored once this resolves; `data` is JSON text. */
export async function publish(
  { store, environmentUuid, disk, now }: PublishParts,
  { environment, channel, topics, runId }: PublishTarget,
  data: string,
  fields: Readonly<Record<string, string>> = { kind: "data" },
): Promise<void> {
  const at = now();
  const messages = topics.map((topic) => {
    const head = {
      ...fields,
      channel,
      topic,
      created_at: new Date(at).toISOString(),
      env_id: environmentUuid(environment.id),
      ...(runId !== null && { run_id: runId }),
    };
    return { channel, topic, runId, text: `${JSON.stringify(head).slice(0, -1)},"data":${data}}` };
  });
  const full = disk?.reserve(messages.reduce((bytes, { text }) => bytes + text.length, 0));
  if (full) throw new RestRefusal(full.code, full.message);
  await store.realtimePublish({ environmentId: environment.id, messages, now: at });
}

/**
 * Publishes a body while it arrives: a message for its start, one for each chunk, and one for its end. The end is also published
 * if the sender disconnects or sends too much.
 */
export async function publishStream(parts: PublishParts, target: PublishTarget, body: AsyncIterable<Buffer>): Promise<void> {
  const streamId = randomBytes(8).toString("hex");
  const decoder = new TextDecoder();
  let bytes = 0;
  await publish(parts, target, JSON.stringify(streamId), { kind: "datastream-start" });
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > STREAM_BYTES_MAX) throw new RestRefusal("body_too_large", `A stream may have at most ${STREAM_BYTES_MAX} bytes.`);
      const text = JSON.stringify(decoder.decode(chunk, { stream: true }));
      await publish(parts, target, text, { kind: "chunk", stream_id: streamId });
    }
  } finally {
    await publish(parts, target, JSON.stringify(streamId), { kind: "datastream-end" });
  }
}
