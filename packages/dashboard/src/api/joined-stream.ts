/**
 * A live stream on top of a list that was loaded. Messages are kept back until the list has what came before them, and the stream counts
 * as live from then on: there is never a gap between the two.
 */

import type { JsonText } from "./json-text.ts";
import { follow, type LiveOptions } from "./live.ts";

export interface JoinedOptions extends Omit<LiveOptions, "onMessage"> {
  /** Brings the list to a time after the call. Called each time the stream was opened or reports a gap. Never rejects. */
  join(): Promise<unknown>;
  /** Messages in their order, at this interval. */
  onMessages(messages: JsonText[]): void;
  everyMs: number;
}

/** What a stream sends in place of messages that were too many. */
const GAP = '{"kind":"gap"}';
/** A stream that keeps having gaps has its list loaded again at this interval. */
const REJOIN_AFTER_MS = 2_000;

/** Returns a function that closes the stream. */
export function followJoined({ join, onMessages, onState, everyMs, ...stream }: JoinedOptions): () => void {
  let kept: JsonText[] = [];
  let isJoined = false;
  let hasGap = false;
  /** Grows with each change of the connection, so that a join of an earlier one does nothing. */
  let connection = 0;
  let rejoin: ReturnType<typeof setTimeout> | undefined;

  async function joinList(joined: number): Promise<void> {
    isJoined = false;
    hasGap = false;
    await join();
    if (joined !== connection) return;
    onState("live");
    if (hasGap) rejoin = setTimeout(() => void joinList(joined), REJOIN_AFTER_MS);
    else isJoined = true;
  }

  const timer = setInterval(() => {
    if (!isJoined || kept.length === 0) return;
    const messages = kept;
    kept = [];
    onMessages(messages);
  }, everyMs);
  const leave = () => {
    connection++;
    isJoined = false;
    clearTimeout(rejoin);
  };
  const stop = follow({
    ...stream,
    onMessage: (text) => {
      if (text !== GAP) return void kept.push(text);
      kept = [];
      hasGap = true;
      if (isJoined) void joinList(connection);
    },
    onState: (state) => {
      leave();
      if (state === "live") void joinList(connection);
      else onState(state);
    },
  });
  return () => {
    leave();
    clearInterval(timer);
    stop();
  };
}
