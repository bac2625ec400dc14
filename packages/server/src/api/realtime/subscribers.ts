/**
 * The subscribers of this node and their topics. Bounded in subscribers, topics per subscriber, and unread bytes. A subscriber that reads
 * more slowly than messages arrive is disconnected with a message: it can connect again, and misses messages published in between.
 */

import type { EnvironmentId } from "@inlet/protocol";
import type { RealtimeStore } from "../../store/contract/index.ts";
import type { RealtimeTopic, TokenClaims } from "./tokens.ts";

export interface Connection {
  send(text: string): void;
  /** How many bytes are not read yet. */
  waitingBytes(): number;
  /** Ends it with a reason. */
  cut(reason: string): void;
}

const SUBSCRIBERS_MAX = 1_000;
const TOPICS_PER_SUBSCRIBER_MAX = 100;
const WAITING_BYTES_MAX = 512 * 1024;
/** Of all subscribers together. */
const ALL_WAITING_BYTES_MAX = 64 * 1024 * 1024;
export const TOO_SLOW = "This subscriber reads too slowly. Connect again.";
export const STOPPING = "The service is stopping. Connect again.";

export class Subscribers {
  /** By subscriber, the keys of its topics. */
  readonly #topics = new Map<Connection, Set<string>>();
  readonly #byTopic = new Map<string, Set<Connection>>();
  readonly #stopWatching: () => void;
  #isStopped = false;

  /** Watches from the start, so that a connected subscriber receives every message, from any node. */
  constructor(store: RealtimeStore) {
    this.#stopWatching = store.realtimeWatch(({ environmentId, channel, topic, text }) =>
      this.#deliver(keyOf(environmentId, { channel, name: topic }), text),
    );
  }

  /** False if there is no capacity. Messages are sent from this moment on. */
  add(connection: Connection, claims: TokenClaims): boolean {
    if (this.#isStopped || this.#topics.size >= SUBSCRIBERS_MAX) return false;
    this.#topics.set(connection, new Set());
    return this.subscribe(connection, claims);
  }

  /** False if it would have too many topics. */
  subscribe(connection: Connection, { environmentId, topics }: TokenClaims): boolean {
    const keys = this.#topics.get(connection);
    if (!keys) return false;
    for (const topic of topics) keys.add(keyOf(environmentId, topic));
    if (keys.size > TOPICS_PER_SUBSCRIBER_MAX) return false;
    for (const key of keys) this.#byTopic.set(key, (this.#byTopic.get(key) ?? new Set()).add(connection));
    return true;
  }

  unsubscribe(connection: Connection, environmentId: EnvironmentId, topics: readonly RealtimeTopic[]): void {
    for (const topic of topics) this.#leave(connection, keyOf(environmentId, topic));
  }

  /** No effect if it is already gone. */
  remove(connection: Connection): void {
    for (const key of this.#topics.get(connection) ?? []) this.#leave(connection, key);
    this.#topics.delete(connection);
  }

  /** The service stops: no others are accepted. */
  cutAll(): void {
    this.#isStopped = true;
    this.#stopWatching();
    for (const connection of [...this.#topics.keys()]) this.#cut(connection, STOPPING);
  }

  #deliver(key: string, text: string): void {
    for (const connection of [...(this.#byTopic.get(key) ?? [])]) {
      if (this.#isTooSlow(connection.waitingBytes())) this.#cut(connection, TOO_SLOW);
      else connection.send(text);
    }
  }

  /** A subscriber that keeps up is never limited by what others have in memory. */
  #isTooSlow(waitingBytes: number): boolean {
    if (waitingBytes === 0) return false;
    if (waitingBytes > WAITING_BYTES_MAX) return true;
    const all = [...this.#topics.keys()].reduce((sum, connection) => sum + connection.waitingBytes(), 0);
    return all > ALL_WAITING_BYTES_MAX;
  }

  #cut(connection: Connection, reason: string): void {
    this.remove(connection);
    connection.cut(reason);
  }

  #leave(connection: Connection, key: string): void {
    this.#topics.get(connection)?.delete(key);
    const there = this.#byTopic.get(key);
    there?.delete(connection);
    if (there?.size === 0) this.#byTopic.delete(key);
  }
}

function keyOf(environmentId: EnvironmentId, { channel, name }: RealtimeTopic): string {
  return JSON.stringify([environmentId, channel, name]);
}
