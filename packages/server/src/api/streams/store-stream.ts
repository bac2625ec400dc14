/**
 * Server-sent events driven by the store: each wake-up reads what was committed since the last message. Nothing is missed or
 * sent twice, a slow reader costs no memory, and `Last-Event-ID` resumes exactly, even after a restart.
 *
 * The stream opens with its first cursor: a client that is disconnected before the first message can still resume from there.
 */

import type { FastifyReply } from "fastify";
import { invalid } from "../rest-errors.ts";
import { answerStream, type StreamSurroundings } from "./server-sent.ts";

export interface StoreStreamParts extends StreamSurroundings {
  store: { eventWatch(listener: () => void): () => void };
}

/** The size of one read. Many streams may wait for slow clients, each with this much in memory. */
export const STREAM_READ_BYTES = 256 * 1024;

export interface StreamMessage {
  /** The cursor after this message. */
  cursor: number;
  event: string;
  json: string;
}

export interface MessageSource {
  from: number;
  /** `isLive`: the client has been sent everything before; until then it catches up. */
  read(after: number, isLive: boolean): Promise<{ messages: StreamMessage[]; reached: number }>;
}

export function sendStream(parts: StoreStreamParts, reply: FastifyReply, open: () => Promise<MessageSource>): Promise<unknown> {
  return answerStream(parts, reply, async () => {
    const { from, read } = await open();
    return {
      opening: `id: ${from}\n`,
      watch: (ring) => parts.store.eventWatch(ring),
      async follow(stream, alarm) {
        let isLive = false;
        for (let reached = from; !stream.isEnded; ) {
          const next = await read(reached, isLive);
          if (next.messages.length > 0 && !stream.write(next.messages.map(messageText).join(""))) await stream.caughtUp();
          isLive ||= next.reached === reached;
          if (next.reached === reached) await alarm.rung();
          reached = next.reached;
        }
      },
    };
  });
}

/** The cursor a client resumes from, or null. */
export function readCursor(given: string | string[] | undefined): number | null {
  if (given === undefined) return null;
  if (typeof given !== "string" || !/^\d{1,15}$/.test(given)) throw invalid("after", "is not the id of an event of a stream");
  return Number(given);
}

/** A payload may contain line breaks between its tokens, which would end a `data:` line. */
function messageText({ cursor, event, json }: StreamMessage): string {
  return `id: ${cursor}\nevent: ${event}\ndata: ${json.replace(/\r\n?|\n/g, "\ndata: ")}\n\n`;
}
