/**
 * Realtime messages: handed to whoever listens now, on every node, and kept nowhere. Messages of one publisher arrive in order; a node
 * that is cut off from the others misses what is published meanwhile.
 */

import type { EnvironmentId } from "@inlet/protocol";

export interface RealtimeMessage {
  environmentId: EnvironmentId;
  channel: string;
  topic: string;
  /** JSON text, as subscribers get it. */
  text: string;
}

export interface RealtimeStore {
  /** Resolves once the listeners of this node were called and the other nodes were sent the message. */
  realtimePublish(message: RealtimeMessage): Promise<void>;
  /** Calls `listener` for every message, of any node. Returns how to stop it. */
  realtimeWatch(listener: RealtimeListener): () => void;
}

export type RealtimeListener = (message: RealtimeMessage) => void;
