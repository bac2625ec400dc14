/** What the stages see of an HTTP request to `/e/…`, and what they answer. */

import type { IncomingHttpHeaders } from "node:http";
import type { EventId, Refusal } from "@inlet/protocol";
import type { ABORTED, Body } from "./bodies/read-body.ts";

export interface InboundRequest {
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
}

export type Answer = Accepted | Refusal | typeof ABORTED;

export interface Accepted {
  /** One id per event, in order. */
  ids: readonly EventId[];
}
