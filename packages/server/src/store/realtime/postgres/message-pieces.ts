/**
 * A realtime message as notifications to other nodes. A notification holds at most 8,000 bytes, so a message is split into chunks, sent by
 * one statement and therefore received in order. Chunks are base64, because a split UTF-8 sequence is not valid UTF-8.
 */

import { randomBytes } from "node:crypto";
import type { RealtimeMessage } from "../../contract/index.ts";

const PIECE_UNITS = 7_000;
/** Maximum number of incomplete messages. They accumulate only if publishers die while sending: the oldest are dropped. */
const PARTIAL_MAX = 100;

/** `<node> <message> <piece>/<pieces> <base64>` */
export function piecesOf(message: RealtimeMessage, node: string): string[] {
  const text = Buffer.from(JSON.stringify(message)).toString("base64");
  const id = randomBytes(8).toString("hex");
  const count = Math.ceil(text.length / PIECE_UNITS);
  return Array.from({ length: count }, (_, n) => `${node} ${id} ${n + 1}/${count} ${text.slice(n * PIECE_UNITS, (n + 1) * PIECE_UNITS)}`);
}

/** Reassembles chunks. */
export class MessagePieces {
  readonly #partial = new Map<string, string[]>();

  /** The message that this chunk completes, or null. `what` is the notification without its node. */
  add(what: string): RealtimeMessage | null {
    const [id = "", position = "", piece = ""] = what.split(" ");
    const [n, count] = position.split("/").map(Number);
    const pieces = this.#partial.get(id) ?? [];
    pieces.push(piece);
    // The first chunks were sent before this node listened.
    if (pieces.length !== n) return null;
    if (n !== count) {
      this.#partial.set(id, pieces);
      this.#forgetOldest();
      return null;
    }
    this.#partial.delete(id);
    const message = JSON.parse(Buffer.from(pieces.join(""), "base64").toString()) as RealtimeMessage;
    const texts = [message.channel, message.topic, message.text];
    return Number.isSafeInteger(message.number) && texts.every((text) => typeof text === "string") ? message : null;
  }

  #forgetOldest(): void {
    const [oldest = ""] = this.#partial.keys();
    if (this.#partial.size > PARTIAL_MAX) this.#partial.delete(oldest);
  }
}
