/** Answers a request with a stream of server-sent events that sends whenever something may have changed, until it ends. */

import { Refusal } from "@inlet/protocol";
import type { FastifyReply } from "fastify";
import type { Logger } from "pino";
import { principalOf } from "../access/principal.ts";
import { sendRefusal } from "../rest-errors.ts";
import { StreamResponse } from "./stream-response.ts";
import type { StreamSlots } from "./stream-slots.ts";

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
  /** Absent: the usual. */
  heartbeatMs?: number | undefined;
}

export interface StreamSource {
  /** Sent first. */
  opening?: string;
  /** Calls `ring` when there may be something to send. */
  watch(ring: () => void): () => void;
  /** Sends until the stream has ended. */
  follow(stream: StreamResponse, alarm: Alarm): Promise<void>;
}

/** Responds to a request with a stream; resolves when that has ended. */
export async function answerStream(around: StreamSurroundings, reply: FastifyReply, open: () => Promise<StreamSource>): Promise<unknown> {
  const giveBack = around.slots.take(principalOf(reply.request).keyId);
  if (giveBack instanceof Refusal) return sendRefusal(reply, giveBack);
  try {
    const source = await open();
    reply.hijack();
    const { opening = "" } = source;
    await sendUntilEnded(around, new StreamResponse(reply.raw, { opening, heartbeatMs: around.heartbeatMs }), source);
  } finally {
    giveBack();
  }
  return undefined;
}

async function sendUntilEnded({ drained, log }: StreamSurroundings, stream: StreamResponse, source: StreamSource): Promise<void> {
  const alarm = createAlarm();
  const end = () => stream.end();
  stream.onEnd(alarm.ring);
  drained.addEventListener("abort", end);
  if (drained.aborted) end();
  let stopWatching = () => {};
  try {
    stopWatching = source.watch(alarm.ring);
    await source.follow(stream, alarm);
  } catch (error) {
    log.warn({ err: error }, "a stream ended early");
  } finally {
    stopWatching();
    drained.removeEventListener("abort", end);
    end();
  }
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
