/** A stream of server-sent events: its headers, its heartbeat, and how it ends. */

import type { ServerResponse } from "node:http";
import { Refusal } from "@inlet/protocol";
import type { FastifyReply } from "fastify";
import type { Logger } from "pino";
import { principalOf } from "../access/principal.ts";
import { sendRefusal } from "../rest-errors.ts";
import type { StreamSlots } from "./stream-slots.ts";

export const STREAM_TYPE = "text/event-stream";

const STREAM_HEADERS = {
  "content-type": STREAM_TYPE,
  "cache-control": "no-cache",
  // Proxies such as nginx would otherwise buffer the stream.
  "x-accel-buffering": "no",
  connection: "close",
};
const HEARTBEAT_MS = 15_000;

export interface Alarm {
  ring(): void;
  /** Resolves at the next ring, or at once if there was one since the last call. */
  rung(): Promise<void>;
}

export interface StreamSurroundings {
  /** Aborted when the service drains. */
  drained: AbortSignal;
  slots: StreamSlots;
  log: Logger;
}

export interface Stream {
  /** Sent first. */
  opening?: string;
  /** Calls `ring` when there may be something to send. */
  watch(ring: () => void): () => void;
  /** Sends until the stream has ended. */
  follow(alarm: Alarm, ended: () => boolean): Promise<void>;
}

/** Responds to a request with a stream; resolves when that has ended. */
export async function answerStream(around: StreamSurroundings, reply: FastifyReply, open: () => Promise<Stream>): Promise<unknown> {
  const giveBack = around.slots.take(principalOf(reply.request).keyId);
  if (giveBack instanceof Refusal) return sendRefusal(reply, giveBack);
  try {
    const stream = await open();
    reply.hijack();
    await sendUntilEnded(around, reply.raw, stream);
  } finally {
    giveBack();
  }
  return undefined;
}

async function sendUntilEnded({ drained, log }: StreamSurroundings, response: ServerResponse, stream: Stream): Promise<void> {
  try {
    await send(response, drained, stream);
  } catch (error) {
    log.warn({ err: error }, "a stream ended early");
  } finally {
    response.end();
  }
}

async function send(response: ServerResponse, drained: AbortSignal, { opening = "", watch, follow }: Stream): Promise<void> {
  const alarm = createAlarm();
  const ended = () => response.destroyed || response.writableEnded || drained.aborted;
  const stopWatching = watch(alarm.ring);
  const heartbeat = setInterval(() => ended() || response.write(": still here\n\n"), HEARTBEAT_MS);
  response.on("close", alarm.ring);
  drained.addEventListener("abort", alarm.ring);
  try {
    response.writeHead(200, STREAM_HEADERS);
    response.write(`: connected\n${opening}\n`);
    await follow(alarm, ended);
  } finally {
    clearInterval(heartbeat);
    stopWatching();
    drained.removeEventListener("abort", alarm.ring);
  }
}

/** Waits until the client has read what was written, or has disconnected: one that does not read is disconnected by the server. */
export function readOn(response: ServerResponse): Promise<void> {
  if (response.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Remembers a ring that occurs while no code waits for it, so that it is not missed. */
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
