/** Realtime channels with typed topics, shared by those who publish and those who subscribe. */

import type { RealtimeMessage } from "../client/subscribe.ts";
import type { RealtimeTopic } from "./realtime-topic.ts";
import type { InferOutput, StandardSchemaV1 } from "./standard-schema.ts";

/** The data of a topic: a Standard Schema, or `topic<Data>()`. Types only: messages are not validated. */
export interface TopicType<Data> {
  readonly types?: { data: Data };
}

export function topic<Data>(): TopicType<Data> {
  return {};
}

type Topics = Readonly<Record<string, StandardSchemaV1 | TopicType<unknown>>>;
type DataOf<Type> = Type extends StandardSchemaV1 ? InferOutput<Type> : Type extends TopicType<infer Data> ? Data : never;

/** One channel, such as that of a user. Can be passed to `token` and `subscribe`. */
export interface RealtimeChannel<Types extends Topics> {
  readonly channel: string;
  readonly topics: readonly (keyof Types & string)[];
  /** The target of `publish`. */
  topic<Name extends keyof Types & string>(name: Name): RealtimeTopic<DataOf<Types[Name]>>;
  /** Types only: never set. */
  readonly types?: { messages: MessagesOf<Types> };
}

type MessagesOf<Types extends Topics> = {
  [Name in keyof Types & string]: RealtimeMessage<DataOf<Types[Name]>> & { topic: Name };
}[keyof Types & string];

/** The messages of a channel, told apart by `topic`: `ChannelMessage<typeof userChannel>`. */
export type ChannelMessage<Channel> = Channel extends (...args: never[]) => { types?: { messages: infer Messages } } ? Messages : never;

/** `realtimeChannel((userId: string) => `user:${userId}`, { progress: topic<{ percent: number }>() })` */
export function realtimeChannel<Args extends unknown[], const Types extends Topics>(
  name: (...args: Args) => string,
  types: Types,
): (...args: Args) => RealtimeChannel<Types> {
  const topics = Object.keys(types);
  return (...args) => {
    const channel = name(...args);
    return { channel, topics, topic: (wanted) => ({ channel, topic: checked(topics, wanted) }) };
  };
}

function checked(topics: readonly string[], wanted: string): string {
  if (!topics.includes(wanted)) throw new TypeError(`The channel has no topic "${wanted}". It has: ${topics.join(", ")}`);
  return wanted;
}
