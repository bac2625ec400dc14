/**
 * Server-sent events driven by the store: each wake-up reads what was committed since the last message. So nothing is missed or
 * sent twice, a slow reader costs no memory, and `Last-Event-ID` resumes exactly, also after a restart.
 *
 * The stream opens with the place it begins at: a client that is cut off before the first message can still go on from there.
 */

import type { ServerResponse } from "node:http";
import { Refusal } from "@inlet/protocol";
import type { FastifyReply } from "fastify";
import type { Logger } from "pino";
import { invalid, sendRefusal } from "./rest-errors.ts";

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  // Proxies such as nginx would collect the stream before they pass it on.
  "x-accel-buffering": "no",
  connection: "close",
};
const HEARTBEAT_MS = 15_000;
const STREAMS_MAX = 500;

export interface StoreStreamParts {
  store: { eventWatch(listener: () => void): () => void };
  /** Aborted when the service drains. */
  drained: AbortSignal;
  log: Logger;
}

export interface StreamMessage {
  /** Where a reader goes on after this message. */
  place: number;
  event: string;
  json: string;
}

export interface StreamSource {
  from: number;
  read(after: number): Promise<{ messages: StreamMessage[]; reached: number }>;
}

/** Streams that are open now, of all kinds. */
let streams = 0;

export async function sendStream(parts: StoreStreamParts, reply: FastifyReply, open: () => Promise<StreamSource>): Promise<unknown> {
  if (streams >= STREAMS_MAX) return sendRefusal(reply, new Refusal("overloaded", `${STREAMS_MAX} streams are open already.`));
  const source = await open();
  reply.hijack();
  streams++;
  try {
    await stream(parts, source, reply.raw);
  } catch (error) {
    parts.log.warn({ err: error }, "a stream ended early");
  } finally {
    streams--;
    reply.raw.end();
  }
  return undefined;
}

/** The place a client asks to go on from, or null. */
export function readPlace(given: string | string[] | undefined): number | null {
  if (given === undefined) return null;
  if (typeof given !== "string" || !/^\d{1,15}$/.test(given)) throw invalid("after", "is not the id of an event of a stream");
  return Number(given);
}

async function stream(parts: StoreStreamParts, { from, read }: StreamSource, response: ServerResponse): Promise<void> {
  const alarm = createAlarm();
  const ended = () => response.destroyed || parts.drained.aborted;
  const stopWatching = parts.store.eventWatch(alarm.ring);
  const heartbeat = setInterval(() => response.write(": still here\n\n"), HEARTBEAT_MS);
  response.on("close", alarm.ring);
  parts.drained.addEventListener("abort", alarm.ring);
  try {
    response.writeHead(200, STREAM_HEADERS);
    response.write(`: connected\nid: ${from}\n\n`);
    for (let reached = from; !ended(); ) {
      const next = await read(reached);
      if (next.messages.length > 0 && !response.write(next.messages.map(messageText).join(""))) await drain(response);
      if (next.reached === reached) await alarm.rung();
      reached = next.reached;
    }
  } finally {
    clearInterval(heartbeat);
    stopWatching();
    parts.drained.removeEventListener("abort", alarm.ring);
  }
}

/** A payload may hold line breaks between its tokens, which would end a `data:` line. */
function messageText({ place, event, json }: StreamMessage): string {
  return `id: ${place}\nevent: ${event}\ndata: ${json.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`;
}

/** Waits until the client has read what was written, or is gone. */
function drain(response: ServerResponse): Promise<void> {
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
function createAlarm() {
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
