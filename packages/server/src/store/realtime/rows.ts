/** Converts a row of realtime_messages, as both engines read it. */

import type { EnvironmentId } from "@inlet/protocol";
import type { RealtimeMessage } from "../contract/index.ts";

export interface RealtimeRow {
  environment_id: number;
  number: number;
  channel: string;
  topic: string;
  text: string;
  bytes: number;
}

export function toRealtimeMessage({
  environment_id,
  number,
  channel,
  topic,
  text,
  bytes,
}: RealtimeRow): RealtimeMessage & { bytes: number } {
  return { environmentId: environment_id as EnvironmentId, number, channel, topic, text, bytes };
}
