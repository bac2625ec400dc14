/**
 * Follows a stream of the service across disconnects. It resumes after the last message, so nothing is missed or
 * repeated. Missing heartbeats reveal a dead connection, for example after the machine slept.
 */

import { CommandFault } from "../command-line/command-fault.ts";
import { pause } from "./pause.ts";
import type { RestCall, RestClient } from "./rest-client.ts";
import { isAway } from "./retry-while-away.ts";
import { type StreamPart, streamParts } from "./stream-parts.ts";

export interface FollowOptions {
  /** Resume after this cursor of an earlier stream. */
  after: string | null;
  signal: AbortSignal;
  /** Called when the connection opens or fails. The first message waits for the returned promise. */
  onConnection?: (state: "connected" | "lost", reason: string) => unknown;
  /** The cursor of the stream, even if nothing matched. */
  onCursor?: (cursor: string) => void;
}

/** The service sends a heartbeat every 15 seconds. */
const SILENCE_MS = 45_000;
const WAIT_FIRST_MS = 200;
const WAIT_MAX_MS = 10_000;

export async function* followStream(rest: RestClient, call: RestCall, options: FollowOptions): AsyncGenerator<StreamPart> {
  const { signal, onConnection, onCursor } = options;
  let cursor = options.after;
  let hasConnected = false;
  for (let failures = 0; !signal.aborted; failures++) {
    const watch = new SilenceWatch(signal);
    try {
      const headers: Record<string, string> = cursor === null ? {} : { "last-event-id": cursor };
      const response = await rest.open(call, { headers, signal: watch.signal });
      let isOpen = false;
      for await (const part of streamParts(response, watch.noteSound)) {
        failures = 0;
        cursor = part.id ?? cursor;
        if (part.data !== null) yield part;
        if (cursor !== null) onCursor?.(cursor);
        // The first part contains the cursor, if the stream has one. From here on, nothing can be missed.
        hasConnected = true;
        if (!isOpen) await onConnection?.("connected", "");
        isOpen = true;
      }
      onConnection?.("lost", "the service closed the stream");
    } catch (error) {
      if (signal.aborted) return;
      if (!hasConnected || !isPassing(error)) throw error;
      onConnection?.("lost", error instanceof CommandFault ? (error.lines[0] ?? "") : "the connection failed");
    } finally {
      watch.stop();
    }
    await pause(failures === 0 ? WAIT_FIRST_MS : Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** failures), signal);
  }
}

/** Refused requests are not retried, unless the service is overloaded or unavailable. */
function isPassing(error: unknown): boolean {
  return !(error instanceof CommandFault) || isAway(error);
}

/** Aborts with `signal`, or when no data arrives for too long. */
class SilenceWatch {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  #timer: NodeJS.Timeout;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.#timer = this.#arm();
  }

  readonly noteSound = (): void => {
    clearTimeout(this.#timer);
    this.#timer = this.#arm();
  };

  stop(): void {
    clearTimeout(this.#timer);
    // Otherwise a reader that stops early would leave the connection open.
    this.#controller.abort();
  }

  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new Error("no data for 45 s")), SILENCE_MS);
  }
}
