/** An HTTP request to `/e/…` as the stages see it, and their responses. */

import type { IncomingHttpHeaders } from "node:http";
import type { EventId, Refusal } from "@inlet/protocol";
import type { ABORTED, Body } from "./bodies/read-body.ts";

export interface InboundRequest {
  method: string;
  /** Path and query as sent. */
  target: string;
  /** The text after `/e/`. */
  keyText: string;
  /** The text after the question mark. */
  query: string;
  headers: IncomingHttpHeaders;
  /** Alternating names and values, as received, including repeated ones. */
  rawHeaders: readonly string[];
  ip: string;
  readBody(bytesMax: number): Promise<Body>;
  /** The request's part of the memory budget, for data derived from the body. */
  memory: {
    take(bytes: number): boolean;
    give(bytes: number): void;
    /** Called when it is known which database the request is for. False: requests for it hold too much memory already. */
    isFor(databaseNo: number): boolean;
  };
  /** For a replayed request: when it was originally received, and the result of verification then. */
  receipt?: { at: number; wasVerified: boolean };
  /** It was found in what the provider lists, or is the replay of one that was: it is not verified. */
  isReconciled?: boolean;
  /** For the replay of a listed item that was refused: by what it is known. It becomes the dedup id of an event that has none. */
  itemKey?: string;
  /** It is an item of a job, which takes it again once a quota has room: that it had none is not recorded. */
  isTakenAgain?: boolean;
  /** How many events the body holds, once they are known to be valid. */
  eventCount?: number;
  /** While traces are exported. */
  span?: RequestSpan;
}

/** For requests that the service makes itself, a few at a time: they are not counted. */
export const UNCOUNTED: InboundRequest["memory"] = { take: () => true, give: () => undefined, isFor: () => true };

/** The request as a part of a trace. */
export interface RequestSpan {
  /** The `traceparent` stored with its events. If the sender named no trace, the trace of the run it belongs to continues. */
  traceparent(ofRun?: string | null): string;
  /** Starts a span for a part of the work. */
  begin(name: "transform" | "store"): { end(error?: string): void };
  end(attributes: Record<string, string | number>, error?: string): void;
}

export type ReceiveOutcome = Accepted | Answered | Refusal | typeof ABORTED;

export interface Accepted {
  /** One id per event, in order. */
  ids: readonly EventId[];
  /** The webhook's custom response instead of the ids. */
  answer?: { status: number; contentType: string; body: string };
}

/** A handshake was answered; there is no event. */
export interface Answered {
  handshake: { status: number; contentType: string; headers: readonly string[]; body: string };
}
