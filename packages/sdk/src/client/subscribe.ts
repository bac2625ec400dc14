/** Subscribes to realtime messages over WebSocket, in browsers and on servers. Requires only a token. */

/** `Messages` is the type of the messages, for channels of `realtimeChannel`. */
export interface RealtimeToken<Messages = RealtimeMessage> {
  channel: string;
  topics: readonly string[];
  key: string;
  baseUrl: string;
  /** Types only: never set. */
  readonly types?: { messages: Messages };
}

export interface RealtimeMessage<Data = unknown> {
  channel: string;
  topic: string;
  data: Data;
  /** The run that published it, if any. */
  runId?: string;
  /** ISO 8601. */
  createdAt: string;
  /** Its number in the environment: `after` of the next subscription, if the connection ends. */
  id: number;
}

export interface SubscribeOptions {
  /** The `id` of the last message received: the messages that were published since come first. */
  after?: number | undefined;
  /** Some of the messages since `after` are no longer kept. */
  onGap?: (() => void) | undefined;
}

export interface Subscription {
  close(): void;
  /** Resolves with the reason when the connection ends. Subscribe again with a new token, and `after` to miss nothing. */
  readonly closed: Promise<string>;
}

/** Resolves once the connection is open: messages published from then on arrive. */
export async function subscribe<Messages = RealtimeMessage>(
  { key, baseUrl }: Pick<RealtimeToken<Messages>, "key" | "baseUrl" | "types">,
  onMessage: (message: Messages) => void,
  { after, onGap }: SubscribeOptions = {},
): Promise<Subscription> {
  if (typeof WebSocket === "undefined") throw new TypeError("This runtime has no WebSocket");
  const url = new URL(`${baseUrl.replace(/\/+$/, "")}/v1/realtime/connect`);
  url.protocol = url.protocol === "http:" ? "ws:" : "wss:";
  url.searchParams.set("token", key);
  if (after !== undefined) url.searchParams.set("after", String(after));
  const socket = new WebSocket(url);
  socket.onmessage = ({ data }) => {
    const { id, kind, channel, topic, run_id, created_at, data: value } = JSON.parse(String(data));
    const message: RealtimeMessage = { channel, topic, data: value, createdAt: created_at, id, ...(run_id ? { runId: run_id } : {}) };
    if (kind === "data") onMessage(message as Messages);
    if (kind === "gap") onGap?.();
  };
  let isClosedHere = false;
  const closed = new Promise<string>((resolve) => {
    socket.onclose = ({ reason }) => resolve(isClosedHere ? "The subscription was closed" : reason || "The connection was lost");
  });
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error("The subscription was refused: is its token older than a minute?"));
  });
  const close = () => {
    isClosedHere = true;
    socket.close(1000);
  };
  return { close, closed };
}
