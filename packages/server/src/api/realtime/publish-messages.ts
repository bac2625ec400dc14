/** Published messages as subscribers receive them, one for each topic. */

import { randomBytes } from "node:crypto";
import type { Environment, RealtimeStore } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";

export interface PublishParts {
  store: RealtimeStore;
  environmentUuid(id: Environment["id"]): string;
  now(): number;
}

export interface PublishTarget {
  environment: Environment;
  channel: string;
  topics: readonly string[];
  runId: string | null;
}

const STREAM_BYTES_MAX = 4 * 1024 * 1024;

/** One message for each topic; `data` is JSON text. */
export async function publish(parts: PublishParts, target: PublishTarget, data: string, kind = "data"): Promise<void> {
  for (const topic of target.topics) await send(parts, target, topic, { kind }, data);
}

async function send(
  { store, environmentUuid, now }: PublishParts,
  { environment, channel, runId }: PublishTarget,
  topic: string,
  fields: Readonly<Record<string, string>>,
  data: string,
): Promise<void> {
  const head = {
    ...fields,
    channel,
    topic,
    created_at: new Date(now()).toISOString(),
    env_id: environmentUuid(environment.id),
    ...(runId !== null && { run_id: runId }),
  };
  const text = `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
  await store.realtimePublish({ environmentId: environment.id, channel, topic, text });
}

/**
 * Publishes a body while it arrives: a message for its start, one for each chunk, and one for its end. The end is also published
 * if the sender disconnects or sends too much.
 */
export async function publishStream(parts: PublishParts, target: PublishTarget, body: AsyncIterable<Buffer>): Promise<void> {
  const streamId = randomBytes(8).toString("hex");
  const decoder = new TextDecoder();
  let bytes = 0;
  await publish(parts, target, JSON.stringify(streamId), "datastream-start");
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > STREAM_BYTES_MAX) throw new RestRefusal("body_too_large", `A stream may have at most ${STREAM_BYTES_MAX} bytes.`);
      const text = JSON.stringify(decoder.decode(chunk, { stream: true }));
      for (const topic of target.topics) await send(parts, target, topic, { kind: "chunk", stream_id: streamId }, text);
    }
  } finally {
    await publish(parts, target, JSON.stringify(streamId), "datastream-end");
  }
}
