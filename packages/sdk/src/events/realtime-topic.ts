/** The target of a realtime message. */

export interface RealtimeTopic {
  /** Groups topics, such as "user:7". */
  channel: string;
  topic: string;
}

export interface PublishedMessage extends RealtimeTopic {
  data: unknown;
}
