/** What the stages see of an HTTP request to `/e/…`, and what they answer. */

import type { IncomingHttpHeaders } from "node:http";
import type { EventId, Refusal } from "@inlet/protocol";
import type { ABORTED, Body } from "./bodies/read-body.ts";

export interface InboundRequest {
  method: string;
  /** Path and query as they were sent. */
  target: string;
  /** The text after `/e/`. */
  keyText: string;
  /** The text after the question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, as they came, repetitions included. */
  rawHeaders: readonly string[];
  ip: string;
  readBody(bytesMax: number): Promise<Body>;
  /** For what a body becomes beside itself: its part of what all requests may hold. */
  memory: { take(bytes: number): boolean; give(bytes: number): void };
  /** Of a recorded request that is sent through again: when it was received, and what verification found then. */
  receipt?: { at: number; wasVerified: boolean };
  /** While traces are exported. */
  span?: RequestSpan;
}

/** The request as a part of a trace. */
export interface RequestSpan {
  /** What names it to the events it brings. Where the sender named no trace, that of the run it is part of goes on. */
  traceparent(ofRun?: string | null): string;
  /** A part of the work for it begins. */
  begin(name: "transform" | "store"): { end(error?: string): void };
  end(attributes: Record<string, string | number>, error?: string): void;
}

export type Answer = Accepted | Answered | Refusal | typeof ABORTED;

export interface Accepted {
  /** One id per event, in order. */
  ids: readonly EventId[];
  /** What the webhook answers with instead of the ids. */
  answer?: { status: number; contentType: string; body: string };
}

/** A handshake was answered; there is no event. */
export interface Answered {
  handshake: { status: number; contentType: string; headers: readonly string[]; body: string };
}
