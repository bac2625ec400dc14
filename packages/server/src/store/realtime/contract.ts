/**
 * Realtime messages: delivered to current listeners on every node, and never stored. Messages of one publisher arrive in order; a
 * node that is disconnected from the others misses messages published in the meantime.
 */

import type { EnvironmentId } from "@inlet/protocol";

export interface RealtimeMessage {
  environmentId: EnvironmentId;
  channel: string;
  topic: string;
  /** JSON text, as sent to subscribers. */
  text: string;
}

export interface RealtimeStore {
  /** Resolves once the listeners of this node have been called and the message has been sent to the other nodes. */
  realtimePublish(message: RealtimeMessage): Promise<void>;
  /** Calls `listener` for every message, from any node. Returns a function that stops it. */
  realtimeWatch(listener: RealtimeListener): () => void;
}

export type RealtimeListener = (message: RealtimeMessage) => void;
