/**
 * Messages from functions to subscribers, for example in a browser. The service keeps them for a while, for subscribers that reconnect.
 * Publishing and creating tokens require the signing key, except in dev; subscribing requires a token.
 */

import { SendError } from "../errors.ts";
import type { RealtimeTopic } from "../events/realtime-topic.ts";
import { askService } from "../serving/ask-service.ts";
import { currentRun } from "./run-context.ts";
import type { Settings } from "./settings.ts";
import { type RealtimeMessage, type RealtimeToken, type SubscribeOptions, type Subscription, subscribe } from "./subscribe.ts";

/** `Messages` is the type of the messages, for channels of `realtimeChannel`. */
export interface RealtimeTopics<Messages = RealtimeMessage> {
  channel: string;
  topics: readonly string[];
  /** Types only: never set. */
  readonly types?: { messages: Messages };
}

export class Realtime {
  readonly #settings: () => Settings;

  constructor(settings: () => Settings) {
    this.#settings = settings;
  }

  /** Stores the message and sends it to all subscribers. Inside a function, publish in a step so that a retry does not publish again. */
  async publish<Data>({ channel, topic }: RealtimeTopic<Data>, data: NoInfer<Data>): Promise<void> {
    const run = currentRun();
    if (run?.capture) return run.capture.message({ channel, topic, data });
    const query = new URLSearchParams({ channel, topic, ...(run ? { run_id: run.runId } : {}) });
    await this.#ask(`/v1/realtime/publish?${query}`, data ?? null);
  }

  /** Creates a token for these topics. Pass it to a client, for example a browser, which has one minute to connect. */
  async token<Messages = RealtimeMessage>({ channel, topics }: RealtimeTopics<Messages>): Promise<RealtimeToken<Messages>> {
    const { jwt } = await this.#ask(
      "/v1/realtime/token",
      topics.map((name) => ({ channel, name })),
    );
    return { channel, topics, key: String(jwt), baseUrl: this.#settings().baseUrl ?? "" };
  }

  /** Subscribes with a new token. */
  async subscribe<Messages = RealtimeMessage>(
    topics: RealtimeTopics<Messages>,
    onMessage: (message: Messages) => void,
    options: SubscribeOptions = {},
  ): Promise<Subscription> {
    return subscribe(await this.token(topics), onMessage, options);
  }

  async #ask(path: string, body: unknown): Promise<{ jwt?: unknown }> {
    const { status, text } = await askService(this.#settings(), { method: "POST", path, body: JSON.stringify(body) });
    const response = parse(text);
    if (status === 200 || status === 201) return response;
    throw new SendError(response.error ?? `The service answered with status ${status}`, {
      code: response.code ?? "response_invalid",
      status,
    });
  }
}

function parse(text: string): { jwt?: unknown; error?: string; code?: string } {
  try {
    return (JSON.parse(text) as { error?: string } | null) ?? {};
  } catch {
    return {};
  }
}
