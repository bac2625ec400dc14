/** Inlet's SDK: send events, write functions. Import `serve` from the entry for your framework: `@inlet/sdk/node`, `/express`, …  */

export { type FunctionConfig, Inlet, type InletOptions } from "./client/inlet.ts";
export type { Realtime, RealtimeTopics } from "./client/realtime.ts";
export type { Fetch, FetchInit, FetchResponse, Logger, Settings } from "./client/settings.ts";
export { type RealtimeMessage, type RealtimeToken, type SubscribeOptions, type Subscription, subscribe } from "./client/subscribe.ts";
export { type EventFault, NonRetriableError, RetryAfterError, SendError, StepError } from "./errors.ts";
export type {
  CronEvent,
  EventNamed,
  EventPayload,
  EventSchemas,
  ReceivedEvent,
  SendableEvent,
  Trigger,
  TriggeredEvent,
} from "./events/event-types.ts";
export type { Jsonified, StepResult } from "./events/jsonified.ts";
export { type ChannelMessage, type RealtimeChannel, realtimeChannel, type TopicType, topic } from "./events/realtime-channel.ts";
export type { PublishedMessage, RealtimeTopic } from "./events/realtime-topic.ts";
export type { SentSignal } from "./events/sent-signal.ts";
export type { EventMeta, Sessions } from "./events/sessions.ts";
export type { InferInput, InferOutput, StandardSchemaV1 } from "./events/standard-schema.ts";
export type { AiModel, AiTools, FetchOptions, InferOptions } from "./functions/ai-tools.ts";
export type { FailureContext, FunctionContext } from "./functions/context.ts";
export type { Defer, DeferOptions, DeferParent, Deferred, DeferredFunction } from "./functions/defer.ts";
export { createDefer, type DeferConfig, type DeferContext } from "./functions/deferred-function.ts";
export type { CancelOn, ConcurrencyLimit, Duration, Expression, RunConcurrency } from "./functions/function-config.ts";
export { type FunctionReference, referenceFunction } from "./functions/function-reference.ts";
export type { FailureEvent, InletFunction } from "./functions/inlet-function.ts";
export type { Approval, ApprovalOptions, InvokeOptions, SignalOptions, StepTools, WaitOptions } from "./functions/step-tools.ts";
export type {
  AfterFunction,
  AfterSend,
  AfterStep,
  BeforeFunction,
  BeforeSend,
  BeforeStep,
  CallInfo,
  Middleware,
  MiddlewareStep,
} from "./middleware/middleware.ts";
export { VERSION } from "./version.ts";
