/**
 * The subscribers of this node and their topics. Bounded in subscribers, connections per token, topics per subscriber, and unread bytes. A
 * subscriber that reads more slowly than messages arrive is disconnected with a message: it can connect again, and misses messages
 * published in between. One that cannot be written to is disconnected too; the others get the message.
 */

import { type EnvironmentId, Refusal } from "@inlet/protocol";
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
const CONNECTIONS_PER_TOKEN_MAX = 20;
const TOPICS_PER_SUBSCRIBER_MAX = 100;
const WAITING_BYTES_MAX = 512 * 1024;
/** Of all subscribers together. */
const ALL_WAITING_BYTES_MAX = 64 * 1024 * 1024;
export const TOO_SLOW = "This subscriber reads too slowly. Connect again.";
const FAULTY = "This subscriber cannot be written to. Connect again.";
export const STOPPING = "The service is stopping. Connect again.";

interface Subscriber {
  tokenId: string;
  /** Keys of its topics. */
  topics: Set<string>;
}

export class Subscribers {
  readonly #subscribers = new Map<Connection, Subscriber>();
  readonly #connectionsByToken = new Map<string, number>();
  readonly #byTopic = new Map<string, Set<Connection>>();
  readonly #stopWatching: () => void;
  #isStopped = false;

  /** Watches from the start, so that a connected subscriber receives every message, from any node. */
  constructor(store: RealtimeStore) {
    this.#stopWatching = store.realtimeWatch(({ environmentId, channel, topic, text }) =>
      this.#deliver(keyOf(environmentId, { channel, name: topic }), text),
    );
  }

  /** Null once it is added: messages are sent from this moment on. Otherwise the reason, in few enough bytes for a WebSocket to close with. */
  add(connection: Connection, claims: TokenClaims): Refusal | null {
    if (this.#isStopped) return new Refusal("overloaded", STOPPING);
    if (this.#subscribers.size >= SUBSCRIBERS_MAX) return new Refusal("overloaded", `There are ${SUBSCRIBERS_MAX} subscribers already.`);
    const open = this.#connectionsByToken.get(claims.tokenId) ?? 0;
    if (open >= CONNECTIONS_PER_TOKEN_MAX)
      return new Refusal("overloaded", `This token has ${CONNECTIONS_PER_TOKEN_MAX} connections open. Use another token.`);
    this.#connectionsByToken.set(claims.tokenId, open + 1);
    this.#subscribers.set(connection, { tokenId: claims.tokenId, topics: new Set() });
    const refused = this.subscribe(connection, claims);
    if (refused) this.remove(connection);
    return refused;
  }

  /** A refusal if it would have too many topics. */
  subscribe(connection: Connection, { environmentId, topics }: Pick<TokenClaims, "environmentId" | "topics">): Refusal | null {
    const subscriber = this.#subscribers.get(connection);
    if (!subscriber) return null;
    for (const topic of topics) subscriber.topics.add(keyOf(environmentId, topic));
    if (subscriber.topics.size > TOPICS_PER_SUBSCRIBER_MAX)
      return new Refusal("overloaded", `A subscriber has at most ${TOPICS_PER_SUBSCRIBER_MAX} topics.`);
    for (const key of subscriber.topics) this.#byTopic.set(key, (this.#byTopic.get(key) ?? new Set()).add(connection));
    return null;
  }

  unsubscribe(connection: Connection, environmentId: EnvironmentId, topics: readonly RealtimeTopic[]): void {
    for (const topic of topics) this.#leave(connection, keyOf(environmentId, topic));
  }

  /** No effect if it is already gone. */
  remove(connection: Connection): void {
    const subscriber = this.#subscribers.get(connection);
    if (!subscriber) return;
    for (const key of subscriber.topics) this.#leave(connection, key);
    this.#subscribers.delete(connection);
    const left = (this.#connectionsByToken.get(subscriber.tokenId) ?? 0) - 1;
    if (left > 0) this.#connectionsByToken.set(subscriber.tokenId, left);
    else this.#connectionsByToken.delete(subscriber.tokenId);
  }

  /** The service stops: no others are accepted. */
  cutAll(): void {
    this.#isStopped = true;
    this.#stopWatching();
    for (const connection of [...this.#subscribers.keys()]) this.#cut(connection, STOPPING);
  }

  #deliver(key: string, text: string): void {
    for (const connection of [...(this.#byTopic.get(key) ?? [])]) {
      try {
        if (this.#isTooSlow(connection.waitingBytes())) this.#cut(connection, TOO_SLOW);
        else connection.send(text);
      } catch {
        this.#cut(connection, FAULTY);
      }
    }
  }

  /** A subscriber that keeps up is never limited by what others have in memory. */
  #isTooSlow(waitingBytes: number): boolean {
    if (waitingBytes === 0) return false;
    if (waitingBytes > WAITING_BYTES_MAX) return true;
    const all = [...this.#subscribers.keys()].reduce((sum, connection) => sum + connection.waitingBytes(), 0);
    return all > ALL_WAITING_BYTES_MAX;
  }

  #cut(connection: Connection, reason: string): void {
    this.remove(connection);
    connection.cut(reason);
  }

  #leave(connection: Connection, key: string): void {
    this.#subscribers.get(connection)?.topics.delete(key);
    const there = this.#byTopic.get(key);
    there?.delete(connection);
    if (there?.size === 0) this.#byTopic.delete(key);
  }
}

function keyOf(environmentId: EnvironmentId, { channel, name }: RealtimeTopic): string {
  return JSON.stringify([environmentId, channel, name]);
}
