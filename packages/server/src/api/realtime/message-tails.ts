/**
 * The ends of the environments' messages, as far as this node has delivered them. Messages are delivered in the order of their numbers, each
 * once: one that follows the last is delivered as it is heard of, and if some are missing between, all of them are read from the store.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { RealtimeMessage, RealtimeStore } from "../../store/contract/index.ts";

export interface MessageTailsParts {
  store: Pick<RealtimeStore, "realtimeLast" | "realtimeRead">;
  /** Channels of an environment that have subscribers. */
  channelsOf(environmentId: EnvironmentId): readonly string[];
  deliver(message: RealtimeMessage): void;
}

interface Tail {
  /** The number of the last message delivered. */
  cursor: number;
  /** The highest number heard of. */
  heard: number;
  isReading: boolean;
  /** Its holders. Without any, messages of the environment concern nobody here. */
  holders: number;
}

const PAGE_MESSAGES = 100;

export class MessageTails {
  readonly #parts: MessageTailsParts;
  readonly #tails = new Map<EnvironmentId, Tail>();
  #subscriptions = 0;

  constructor(parts: MessageTailsParts) {
    this.#parts = parts;
  }

  /** Once it resolves, messages published from now on will be delivered, until the holder lets go. */
  async open(environmentId: EnvironmentId): Promise<void> {
    if (this.hold(environmentId)) return;
    const last = await this.#parts.store.realtimeLast({ environmentId });
    if (!this.#tails.has(environmentId)) this.#tails.set(environmentId, { cursor: last, heard: last, isReading: false, holders: 0 });
    this.hold(environmentId);
  }

  /** False: nobody holds it, it has to be opened. */
  hold(environmentId: EnvironmentId): boolean {
    const tail = this.#tails.get(environmentId);
    if (tail) tail.holders++;
    return tail !== undefined;
  }

  release(environmentId: EnvironmentId): void {
    const tail = this.#tails.get(environmentId);
    if (tail && --tail.holders === 0) this.#tails.delete(environmentId);
  }

  /** The number of the last message delivered here. */
  cursor(environmentId: EnvironmentId): number {
    return this.#tails.get(environmentId)?.cursor ?? 0;
  }

  /** A channel got its first subscriber: what is being read was read without it. */
  noteSubscription(): void {
    this.#subscriptions++;
  }

  /** Null: messages may have been missed. */
  hear(message: RealtimeMessage | null): void {
    if (!message) {
      for (const [environmentId, tail] of this.#tails) void this.#poll(environmentId, tail);
      return;
    }
    const tail = this.#tails.get(message.environmentId);
    if (!tail || message.number <= tail.cursor) return;
    tail.heard = Math.max(tail.heard, message.number);
    if (tail.isReading) return;
    if (message.number === tail.cursor + 1) {
      tail.cursor = message.number;
      this.#parts.deliver(message);
    } else void this.#catchUp(message.environmentId, tail);
  }

  async #poll(environmentId: EnvironmentId, tail: Tail): Promise<void> {
    const last = await this.#parts.store.realtimeLast({ environmentId }).catch(() => 0);
    tail.heard = Math.max(tail.heard, last);
    if (tail.heard > tail.cursor && !tail.isReading) await this.#catchUp(environmentId, tail);
  }

  /** Never throws: if the store cannot be read, the next message or poll tries again. */
  async #catchUp(environmentId: EnvironmentId, tail: Tail): Promise<void> {
    tail.isReading = true;
    try {
      while (tail.cursor < tail.heard && this.#tails.get(environmentId) === tail) await this.#readPage(environmentId, tail);
    } catch {
      // Tried again with the next message.
    }
    tail.isReading = false;
  }

  async #readPage(environmentId: EnvironmentId, tail: Tail): Promise<void> {
    const subscriptions = this.#subscriptions;
    const cursors = this.#parts.channelsOf(environmentId).map((channel) => ({ channel, after: tail.cursor }));
    const range = { environmentId, cursors, until: tail.heard, publishedAfter: 0, limit: PAGE_MESSAGES };
    const { messages, reached } = await this.#parts.store.realtimeRead(range);
    if (subscriptions !== this.#subscriptions) return;
    for (const message of messages) {
      tail.cursor = message.number;
      this.#parts.deliver(message);
    }
    tail.cursor = Math.max(tail.cursor, reached);
  }
}
