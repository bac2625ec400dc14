/**
 * Reads a request body into memory, within a limit and a budget. A body that is too large is refused by its declared length,
 * or at the first chunk beyond the limit: it is never read to its end.
 */

import type { IncomingMessage } from "node:http";
import { Refusal } from "@inlet/protocol";
import type { BodyShare } from "./body-budget.ts";

/** The client disconnected before its body was complete: there is no response. */
export const ABORTED = Symbol("aborted");

export type Body = Buffer | Refusal | typeof ABORTED;

export function readBody(request: IncomingMessage, bytesMax: number, share: BodyShare): Promise<Body> {
  const declared = Number(request.headers["content-length"] ?? 0);
  if (declared > bytesMax) return Promise.resolve(declaredTooLarge(bytesMax, declared));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let received = 0;
    let isSettled = false;

    const refuse = (refused: Refusal) => {
      isSettled = true;
      request.off("data", onData).pause();
      resolve(refused);
    };
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      if (received > bytesMax) return refuse(bodyTooLarge(bytesMax, `${received} bytes had arrived`));
      if (!share.take(chunk.length)) return refuse(overloaded());
      chunks.push(chunk);
    };
    request.on("data", onData);
    request.on("end", () => {
      isSettled = true;
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    // Also emitted after the end.
    request.on("close", () => isSettled || resolve(ABORTED));
  });
}

export function overloaded(): Refusal {
  return new Refusal("overloaded", "The service is at capacity. Retry in a moment.");
}

function declaredTooLarge(bytesMax: number, declared: number): Refusal {
  return bodyTooLarge(bytesMax, `${declared} bytes were declared`);
}

export function bodyTooLarge(bytesMax: number, what: string): Refusal {
  return new Refusal("body_too_large", `The body is larger than the limit of ${bytesMax} bytes: ${what}.`);
}
