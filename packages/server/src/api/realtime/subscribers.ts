/**
 * The subscribers of this node and their topics. Limited are subscribers, connections per token, topics per subscriber, and unread bytes. A
 * subscriber that reads more slowly than messages arrive is disconnected with a message: it can connect again, and name the last message
 * that it got. One that cannot be written to is disconnected too; the others get the message. A subscriber is disconnected when a key that
 * signed one of its tokens is revoked.
 */

import { type EnvironmentId, type KeyId, Refusal } from "@inlet/protocol";
import type { RealtimeMessage, RealtimeStore, StoreViews } from "../../store/contract/index.ts";
import { catchUp } from "./catch-up.ts";
import { MessageTails } from "./message-tails.ts";
import type { RealtimeTopic, TokenClaims } from "./tokens.ts";

export interface Connection {
  /** `number` is that of the message; null: it has none. */
  send(text: string, number: number | null): void;
  /** How many bytes are not read yet. */
  waitingBytes(): number;
  /** Resolves once few bytes wait, or the connection has ended. */
  drained(): Promise<void>;
  /** Ends it with a reason. */
  cut(reason: string): void;
}

export interface SubscribersParts {
  store: RealtimeStore;
  views: Pick<StoreViews, "realtimeRead">;
  /** How long messages are kept. */
  retentionMs: number;
  /** Whether this signing key is not revoked. */
  isWorkingKey(id: KeyId): boolean;
  now(): number;
}

const SUBSCRIBERS_MAX = 1_000;
const CONNECTIONS_PER_TOKEN_MAX = 20;
const TOPICS_PER_SUBSCRIBER_MAX = 100;
const WAITING_BYTES_MAX = 512 * 1024;
/** Of all subscribers together. */
const ALL_WAITING_BYTES_MAX = 64 * 1024 * 1024;
export const TOO_SLOW = "This subscriber reads too slowly. Connect again.";
const FAULTY = "This subscriber cannot be written to. Connect again.";
export const REVOKED = "The signing key of this subscription was revoked. Connect again with a new token.";
export const STOPPING = "The service is stopping. Connect again.";
const GAP = JSON.stringify({ kind: "gap" });

interface Subscriber {
  tokenId: string;
  /** The signing keys of its tokens. */
  signedBy: Set<KeyId>;
  /** Keys of its topics, each with the number of the last message of its environment that others had when it was subscribed. */
  topics: Map<string, number>;
  /** Environments whose messages it follows. */
  environments: Set<EnvironmentId>;
  /** While it catches up, it gets nothing else. `number`: the last message of the environment that it has, `joinedAt`: the last that others had. */
  resumed: { environmentId: EnvironmentId; number: number; joinedAt: number; isOpen: boolean } | null;
}

export class Subscribers {
  readonly #parts: SubscribersParts;
  readonly #subscribers = new Map<Connection, Subscriber>();
  readonly #connectionsByToken = new Map<string, number>();
  readonly #byTopic = new Map<string, Set<Connection>>();
  readonly #tails: MessageTails;
  readonly #stopWatching: () => void;
  #isStopped = false;

  /** Watches from the start, so that a connected subscriber receives every message, from any node. */
  constructor(parts: SubscribersParts) {
    this.#parts = parts;
    this.#tails = new MessageTails({
      store: parts.store,
      channelsOf: (environmentId) => this.#channelsOf(environmentId),
      deliver: (message) => this.#deliver(message),
    });
    this.#stopWatching = parts.store.realtimeWatch((message) => this.#tails.hear(message));
  }

  /** Resolves once a connection that is added then misses no message. The result lets go of what is held until it is added. */
  async prepare({ environmentId }: Pick<TokenClaims, "environmentId">): Promise<() => void> {
    await this.#tails.open(environmentId);
    return () => this.#tails.release(environmentId);
  }

  /**
   * Null once it is added: messages are sent from this moment on, before them those that follow `after`, if it is given. Otherwise the
   * reason, in few enough bytes for a WebSocket to close with. `prepare` comes first.
   */
  add(connection: Connection, claims: TokenClaims, after: number | null = null): Refusal | null {
    if (this.#isStopped) return new Refusal("overloaded", STOPPING);
    if (this.#subscribers.size >= SUBSCRIBERS_MAX)
      return new Refusal("overloaded", `The service has ${SUBSCRIBERS_MAX} open connections, the maximum: close one, or try again later.`);
    const open = this.#connectionsByToken.get(claims.tokenId) ?? 0;
    if (open >= CONNECTIONS_PER_TOKEN_MAX)
      return new Refusal(
        "overloaded",
        `This token has ${CONNECTIONS_PER_TOKEN_MAX} open connections, the maximum: close one, or use another token.`,
      );
    this.#connectionsByToken.set(claims.tokenId, open + 1);
    const { environmentId } = claims;
    const joinedAt = this.#tails.cursor(environmentId);
    const resumed = after === null ? null : { environmentId, number: after, joinedAt, isOpen: true };
    const { tokenId } = claims;
    this.#subscribers.set(connection, { tokenId, signedBy: new Set(), topics: new Map(), environments: new Set(), resumed });
    const refused = this.subscribe(connection, claims);
    if (refused) this.remove(connection);
    return refused;
  }

  /** Sends what a connection that was added with `after` has missed. To be called when it can be written to. */
  async resume(connection: Connection): Promise<void> {
    const subscriber = this.#subscribers.get(connection);
    const resumed = subscriber?.resumed;
    if (!subscriber || !resumed?.isOpen) return;
    const { environmentId, number: after, joinedAt } = resumed;
    const missed = new Set(subscriber.topics.keys());
    // What it subscribes to meanwhile begins with that subscription.
    const isWanted = (message: RealtimeMessage) => {
      const key = keyOf(environmentId, topicOf(message));
      const subscribedAt = subscriber.topics.get(key);
      return subscribedAt !== undefined && (missed.has(key) || message.number > subscribedAt);
    };
    try {
      await catchUp(this.#parts, {
        environmentId,
        after,
        joinedAt,
        channels: () => [...new Set(topicsOf(subscriber, environmentId).map(({ channel }) => channel))],
        delivered: () => this.#tails.cursor(environmentId),
        send: (message) => isWanted(message) && connection.send(message.text, message.number),
        sendGap: () => connection.send(GAP, null),
        drained: () => connection.drained(),
        isGone: () => !this.#subscribers.has(connection),
        goLive(reached) {
          resumed.number = reached;
          resumed.isOpen = false;
        },
      });
    } catch {
      this.#cut(connection, FAULTY);
    }
  }

  /** A refusal if it would have too many topics. `prepare` comes first. */
  subscribe(connection: Connection, { environmentId, topics, keyId }: Omit<TokenClaims, "tokenId">): Refusal | null {
    const subscriber = this.#subscribers.get(connection);
    if (!subscriber) return null;
    if (keyId !== null) {
      // The token was read before `prepare`: the key may have been revoked since.
      if (!this.#parts.isWorkingKey(keyId)) return new Refusal("realtime_token_invalid", REVOKED);
      subscriber.signedBy.add(keyId);
    }
    const subscribedAt = this.#tails.cursor(environmentId);
    for (const key of topics.map((topic) => keyOf(environmentId, topic)))
      if (!subscriber.topics.has(key)) subscriber.topics.set(key, subscribedAt);
    if (subscriber.topics.size > TOPICS_PER_SUBSCRIBER_MAX)
      return new Refusal("overloaded", `A subscriber has at most ${TOPICS_PER_SUBSCRIBER_MAX} topics.`);
    for (const key of subscriber.topics.keys()) this.#byTopic.set(key, (this.#byTopic.get(key) ?? new Set()).add(connection));
    if (!subscriber.environments.has(environmentId) && this.#tails.hold(environmentId)) subscriber.environments.add(environmentId);
    this.#tails.noteSubscription();
    return null;
  }

  unsubscribe(connection: Connection, environmentId: EnvironmentId, topics: readonly RealtimeTopic[]): void {
    for (const topic of topics) this.#leave(connection, keyOf(environmentId, topic));
  }

  /** No effect if it is already gone. */
  remove(connection: Connection): void {
    const subscriber = this.#subscribers.get(connection);
    if (!subscriber) return;
    for (const key of subscriber.topics.keys()) this.#leave(connection, key);
    this.#subscribers.delete(connection);
    for (const environmentId of subscriber.environments) this.#tails.release(environmentId);
    const left = (this.#connectionsByToken.get(subscriber.tokenId) ?? 0) - 1;
    if (left > 0) this.#connectionsByToken.set(subscriber.tokenId, left);
    else this.#connectionsByToken.delete(subscriber.tokenId);
  }

  /** To be called when keys have changed. */
  cutRevoked(): void {
    const keys = new Set([...this.#subscribers.values()].flatMap(({ signedBy }) => [...signedBy]));
    const revoked = [...keys].filter((id) => !this.#parts.isWorkingKey(id));
    if (revoked.length === 0) return;
    for (const [connection, { signedBy }] of [...this.#subscribers])
      if (revoked.some((id) => signedBy.has(id))) this.#cut(connection, REVOKED);
  }

  /** The service stops: no others are accepted. */
  cutAll(): void {
    this.#isStopped = true;
    this.#stopWatching();
    for (const connection of [...this.#subscribers.keys()]) this.#cut(connection, STOPPING);
  }

  #channelsOf(environmentId: EnvironmentId): readonly string[] {
    const topics = [...this.#subscribers.values()].flatMap((subscriber) => topicsOf(subscriber, environmentId));
    return [...new Set(topics.map(({ channel }) => channel))];
  }

  #deliver(message: RealtimeMessage): void {
    const { environmentId, number, text } = message;
    for (const connection of [...(this.#byTopic.get(keyOf(environmentId, topicOf(message))) ?? [])]) {
      const resumed = this.#subscribers.get(connection)?.resumed;
      if (resumed?.environmentId === environmentId && (resumed.isOpen || number <= resumed.number)) continue;
      try {
        if (this.#isTooSlow(connection.waitingBytes())) this.#cut(connection, TOO_SLOW);
        else connection.send(text, number);
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

function topicOf({ channel, topic }: RealtimeMessage): RealtimeTopic {
  return { channel, name: topic };
}

function keyOf(environmentId: EnvironmentId, { channel, name }: RealtimeTopic): string {
  return JSON.stringify([environmentId, channel, name]);
}

function topicsOf({ topics }: Subscriber, environmentId: EnvironmentId): RealtimeTopic[] {
  const keys = [...topics.keys()].map((key) => JSON.parse(key) as [EnvironmentId, string, string]);
  return keys.filter(([id]) => id === environmentId).map(([, channel, name]) => ({ channel, name }));
}
