/** `step.ai` and `step.fetch`, as types: requests that the service makes for a function, and calls of AI libraries that it keeps. */

import type { Jsonified, StepResult } from "../events/jsonified.ts";

/** Where a request for inference goes, and how its provider wants to be asked. */
export interface AiModel {
  /** The whole address, such as https://api.openai.com/v1/chat/completions. */
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
  /** The provider's API key. It reaches the service with the step, and no record of it. */
  authKey: string;
  /** In which header the key goes, and how tokens are counted. */
  format: "openai-chat" | "anthropic" | "gemini" | "grok" | "bedrock" | (string & {});
}

export interface InferOptions {
  model: AiModel;
  /** As the provider wants it. */
  body: Readonly<Record<string, unknown>>;
}

export interface AiTools {
  /** The service makes the request and keeps the provider's answer. Statuses other than 2xx are tried again; the last one is a StepError. */
  infer<Answer = Jsonified<unknown>>(id: string, options: InferOptions): Promise<Answer>;
  /** Runs a call of an AI library once, as `step.run` does, with its arguments kept beside the result. */
  wrap<Args extends unknown[], Result>(id: string, call: (...args: Args) => Result, ...args: Args): Promise<StepResult<Awaited<Result>>>;
}

export interface FetchOptions {
  method?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: string | undefined;
}
