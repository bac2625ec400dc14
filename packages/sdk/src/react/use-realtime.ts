/** The hook: a follower that starts with the component and stops with it. */

import { useEffect, useRef, useState } from "react";
import type { RealtimeMessage, RealtimeToken } from "../client/subscribe.ts";
import { RealtimeFollower, type RealtimeState } from "./follow-realtime.ts";

const MESSAGES_MAX = 100;

export interface UseRealtimeOptions {
  /** Asks your server for a token. Called for each connection, so it may be a new function at each rendering. */
  token: () => Promise<Pick<RealtimeToken, "key" | "baseUrl">>;
  /** Subscribes again when it changes: name what the token is for, such as the user's id. */
  key?: string | undefined;
  /** False: nothing is followed. Default: true. */
  enabled?: boolean | undefined;
  /** How many messages are kept, the newest last. Default: 100. */
  messagesMax?: number | undefined;
}

const NOTHING: RealtimeState = { status: "connecting", messages: [], hasGap: false, error: undefined };

/** `Message` is the type of the messages: `ChannelMessage<typeof userChannel>`. */
export function useRealtime<Message extends RealtimeMessage = RealtimeMessage>(options: UseRealtimeOptions): RealtimeState<Message> {
  const { key = "", enabled = true, messagesMax = MESSAGES_MAX } = options;
  const [state, setState] = useState(NOTHING);
  const token = useRef(options.token);
  token.current = options.token;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `key` names what the token is for
  useEffect(() => {
    if (!enabled) return setState({ ...NOTHING, status: "closed" });
    setState(NOTHING);
    const follower = new RealtimeFollower({ token: () => token.current(), messagesMax, onChange: setState });
    follower.start();
    return () => follower.stop();
  }, [key, enabled, messagesMax]);
  return state as RealtimeState<Message>;
}
