/** `step.ai` and `step.fetch`, as types: requests that the service makes for a function, and calls of AI libraries whose results it stores. */

import type { Jsonified, StepResult } from "../events/jsonified.ts";

/** The endpoint of an inference request, and the conventions of its provider. */
export interface AiModel {
  /** The full URL, such as https://api.openai.com/v1/chat/completions. */
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
  /** The provider's API key. It is sent to the service with the step, and never recorded. */
  authKey: string;
  /** Selects the header of the key, and how tokens are counted. */
  format: "openai-chat" | "anthropic" | "gemini" | "grok" | "bedrock" | (string & {});
}

export interface InferOptions {
  model: AiModel;
  /** In the provider's format. */
  body: Readonly<Record<string, unknown>>;
}

export interface AiTools {
  /** The service makes the request and stores the provider's response. Statuses other than 2xx are retried; the last one throws a StepError. */
  infer<Output = Jsonified<unknown>>(id: string, options: InferOptions): Promise<Output>;
  /** Runs a call of an AI library once, like `step.run`, and stores its arguments with the result. */
  wrap<Args extends unknown[], Result>(id: string, call: (...args: Args) => Result, ...args: Args): Promise<StepResult<Awaited<Result>>>;
}

export interface FetchOptions {
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
}
