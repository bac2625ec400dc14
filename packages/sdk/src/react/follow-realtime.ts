/**
 * A subscription that goes on: when the connection ends it asks for a new token, connects again, and gets the messages it missed. Holds the state of `useRealtime`, outside
 * of React, so that it can be used without it.
 */

import { type RealtimeMessage, type RealtimeToken, type Subscription, subscribe } from "../client/subscribe.ts";

export interface RealtimeState<Message = RealtimeMessage> {
  status: "connecting" | "open" | "closed";
  /** The newest last, at most `messagesMax`. */
  messages: readonly Message[];
  /** Messages were missed that are no longer kept: load what they would have told. */
  hasGap: boolean;
  /** Why the last attempt to connect failed. */
  error: Error | undefined;
}

export interface FollowOptions {
  /** Asks your server for a token: each is valid for a minute, so there is one for each connection. */
  token: () => Promise<Pick<RealtimeToken, "key" | "baseUrl">>;
  messagesMax: number;
  onChange(state: RealtimeState): void;
}

const FIRST_DELAY_MS = 250;
const DELAY_MS_MAX = 15_000;

export class RealtimeFollower {
  readonly #options: FollowOptions;
  #state: RealtimeState = { status: "connecting", messages: [], hasGap: false, error: undefined };
  #subscription: Subscription | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;
  #lastId: number | undefined;
  #isStopped = false;

  constructor(options: FollowOptions) {
    this.#options = options;
  }

  start(): void {
    void this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.close();
    this.#change({ status: "closed" });
  }

  async #connect(): Promise<void> {
    try {
      const onGap = () => this.#change({ hasGap: true });
      const token = await this.#options.token();
      const subscription = await subscribe(token, (message) => this.#receive(message), { after: this.#lastId, onGap });
      if (this.#isStopped) return subscription.close();
      this.#subscription = subscription;
      this.#failures = 0;
      this.#change({ status: "open", error: undefined });
      await subscription.closed;
      this.#again(undefined);
    } catch (cause) {
      this.#again(cause instanceof Error ? cause : new Error(String(cause)));
    }
  }

  /** Half fixed, half random, so that many browsers do not come back at once. */
  #again(error: Error | undefined): void {
    if (this.#isStopped) return;
    this.#change({ status: "connecting", error });
    const delayMs = Math.min(FIRST_DELAY_MS * 2 ** this.#failures++, DELAY_MS_MAX) * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => void this.#connect(), delayMs);
  }

  #receive(message: RealtimeMessage): void {
    if (this.#isStopped) return;
    this.#lastId = message.id;
    this.#change({ messages: [...this.#state.messages, message].slice(-this.#options.messagesMax) });
  }

  #change(change: Partial<RealtimeState>): void {
    this.#state = { ...this.#state, ...change };
    this.#options.onChange(this.#state);
  }
}
