/**
 * Follows a stream of the service across disconnects: it goes on after the last message seen, so nothing is missed and nothing comes
 * twice. A machine that slept finds a dead connection; heartbeats that stay away give it up.
 */

import { CommandFault } from "../command-line/command-fault.ts";
import { EXIT } from "../command-line/command-result.ts";
import { pause } from "./pause.ts";
import type { RestCall, RestClient } from "./rest-client.ts";
import { type StreamPart, streamParts } from "./stream-parts.ts";

export interface FollowOptions {
  /** Go on after this place of an earlier stream. */
  after: string | null;
  signal: AbortSignal;
  /** A connection came about, or broke. The first message waits for what this returns. */
  onConnection?: (state: "connected" | "lost", reason: string) => unknown;
  /** The place the stream has reached, also while nothing matched. */
  onPlace?: (place: string) => void;
}

/** The service says something every 15 seconds. */
const SILENCE_MS = 45_000;
const WAIT_FIRST_MS = 200;
const WAIT_MAX_MS = 10_000;

export async function* followStream(rest: RestClient, call: RestCall, options: FollowOptions): AsyncGenerator<StreamPart> {
  const { signal, onConnection, onPlace } = options;
  let place = options.after;
  let hasConnected = false;
  for (let failures = 0; !signal.aborted; failures++) {
    const watch = new SilenceWatch(signal);
    try {
      const headers: Record<string, string> = place === null ? {} : { "last-event-id": place };
      const response = await rest.open(call, { headers, signal: watch.signal });
      let isOpen = false;
      for await (const part of streamParts(response, watch.noteSound)) {
        failures = 0;
        place = part.id ?? place;
        if (part.data !== null) yield part;
        if (place !== null) onPlace?.(place);
        // The first part greets, and tells the place if the stream has any; with it in hand nothing can be missed any more.
        if (!isOpen) await onConnection?.("connected", "");
        isOpen = true;
        hasConnected = true;
      }
      onConnection?.("lost", "the service ended the stream");
    } catch (error) {
      if (signal.aborted) return;
      if (!hasConnected || !isPassing(error)) throw error;
      onConnection?.("lost", error instanceof CommandFault ? (error.lines[0] ?? "") : "the connection broke");
    } finally {
      watch.stop();
    }
    await pause(failures === 0 ? WAIT_FIRST_MS : Math.min(WAIT_MAX_MS, WAIT_FIRST_MS * 2 ** failures), signal);
  }
}

/** A refusal will be the same next time, unless the service is only busy or away. */
function isPassing(error: unknown): boolean {
  return !(error instanceof CommandFault) || error.exitCode === EXIT.unreachable;
}

/** Aborts when nothing was heard for too long, or when `signal` does. */
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
    // A reader that stops early leaves the connection open otherwise.
    this.#controller.abort();
  }

  #arm(): NodeJS.Timeout {
    return setTimeout(() => this.#controller.abort(new Error("nothing was heard for 45 s")), SILENCE_MS);
  }
}
