/** The target of a realtime message. */

/** `Data` is the type of the messages, for topics of `realtimeChannel`. */
export interface RealtimeTopic<Data = unknown> {
  /** Groups topics, such as "user:7". */
  channel: string;
  topic: string;
  /** Types only: never set. */
  readonly types?: { data: Data };
}

export interface PublishedMessage {
  channel: string;
  topic: string;
  data: unknown;
}
