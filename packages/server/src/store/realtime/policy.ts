/** How many messages are kept, and when a publisher removes the ones beyond. */

import type { EnvironmentId } from "@inlet/protocol";
import type { NewRealtimeMessage, RealtimeMessage } from "../contract/index.ts";

/** Of all channels of an environment. */
export const ENVIRONMENT_BYTES_MAX = 256 * 1024 * 1024;
/** Less than what a subscriber may have unread. */
const MESSAGES_PAGE_BYTES_MAX = 256 * 1024;
/** What a message takes beside its text. */
const ROW_BYTES = 256;
/** A channel or an environment is trimmed after so much was added to it, so that trimming costs little per message. */
const MESSAGES_PER_TRIM = 500;
const BYTES_PER_TRIM = 16 * 1024 * 1024;
/** Channels that are counted at a time. Those that are forgotten are trimmed when they are read from, and expire. */
const CHANNELS_COUNTED_MAX = 10_000;

/** What a message counts for. */
export function bytesOf({ channel, topic, text }: NewRealtimeMessage): number {
  return Buffer.byteLength(text) + channel.length + topic.length + ROW_BYTES;
}

/** A page that was read in number order: cut at its bytes, with where to continue. */
export function cutPage(
  rows: readonly (RealtimeMessage & { bytes: number })[],
  { until, limit }: { until: number; limit: number },
): { messages: RealtimeMessage[]; reached: number } {
  const messages: RealtimeMessage[] = [];
  let bytes = 0;
  for (const { bytes: own, ...message } of rows.slice(0, limit)) {
    if (bytes >= MESSAGES_PAGE_BYTES_MAX) break;
    bytes += own;
    messages.push(message);
  }
  const isWhole = messages.length === rows.length && rows.length < limit;
  return { messages, reached: isWhole ? until : (messages.at(-1)?.number ?? until) };
}

/** Counts what this process has published, and says what is to be trimmed. */
export class TrimMeter {
  readonly #messages = new Map<string, number>();
  readonly #bytes = new Map<EnvironmentId, number>();

  /** The channels and the environment that are due. */
  add(environmentId: EnvironmentId, messages: readonly NewRealtimeMessage[]): { channels: string[]; isEnvironmentDue: boolean } {
    const due = new Set<string>();
    for (const { channel } of messages) {
      const key = `${environmentId} ${channel}`;
      const count = (this.#messages.get(key) ?? 0) + 1;
      this.#messages.set(key, count % MESSAGES_PER_TRIM);
      if (count === MESSAGES_PER_TRIM) due.add(channel);
    }
    for (const oldest of this.#messages.keys()) {
      if (this.#messages.size <= CHANNELS_COUNTED_MAX) break;
      this.#messages.delete(oldest);
    }
    const bytes = messages.reduce((sum, message) => sum + bytesOf(message), this.#bytes.get(environmentId) ?? 0);
    this.#bytes.set(environmentId, bytes % BYTES_PER_TRIM);
    return { channels: [...due], isEnvironmentDue: bytes >= BYTES_PER_TRIM };
  }
}
