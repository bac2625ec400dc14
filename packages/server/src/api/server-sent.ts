/** A stream of server-sent events: its headers, its heartbeat, and how it ends. */

import type { ServerResponse } from "node:http";

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  // Proxies such as nginx would collect the stream before they pass it on.
  "x-accel-buffering": "no",
  connection: "close",
};
const HEARTBEAT_MS = 15_000;

export interface Alarm {
  ring(): void;
  /** Resolves at the next ring, or at once if there was one since the last time. */
  rung(): Promise<void>;
}

export interface StreamParts {
  /** Aborted when the service drains. */
  stopped: AbortSignal;
  /** Calls `ring` when there may be something to send. */
  watch(ring: () => void): () => void;
  /** Sends until the stream has ended. */
  follow(alarm: Alarm, ended: () => boolean): Promise<void>;
}

export async function openStream(response: ServerResponse, { stopped, watch, follow }: StreamParts): Promise<void> {
  const alarm = createAlarm();
  const ended = () => response.destroyed || stopped.aborted;
  const stopWatching = watch(alarm.ring);
  const heartbeat = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
  response.on("close", alarm.ring);
  stopped.addEventListener("abort", alarm.ring);
  try {
    response.writeHead(200, STREAM_HEADERS);
    response.write(": connected\n\n");
    await follow(alarm, ended);
  } finally {
    clearInterval(heartbeat);
    stopWatching();
    stopped.removeEventListener("abort", alarm.ring);
  }
}

/** Waits until the client has read what was written, or is gone. */
export function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Remembers a ring nobody waited for, so that what happens during a read is not slept through. */
function createAlarm(): Alarm {
  let rung = false;
  let wake: (() => void) | null = null;
  return {
    ring: () => {
      rung = true;
      wake?.();
    },
    async rung() {
      if (!rung) await new Promise<void>((resolve) => (wake = resolve));
      rung = false;
      wake = null;
    },
  };
}
