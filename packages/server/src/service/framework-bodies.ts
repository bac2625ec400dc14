/**
 * Bounds bodies of requests to the framework together with those of `/e/…`: received bytes count against the one budget until
 * the request is answered. Credentials are checked before, in `onRequest`, when none of the body has been read.
 *
 * Responses have a separate budget: a response counts until the client has read it.
 */

import type { IncomingMessage } from "node:http";
import { Transform, type TransformCallback } from "node:stream";
import type { FastifyInstance } from "fastify";
import { onceClosed } from "../api/once-closed.ts";
import { RestRefusal } from "../api/rest-errors.ts";
import { BodyBudget, type BodyShare } from "../receive/bodies/body-budget.ts";
import { closeLingering, hasLargeRest } from "../receive/connections/close-lingering.ts";

export function registerBodyBudget(app: FastifyInstance, budget: BodyBudget): void {
  app.addHook("preParsing", async (request, reply, payload) => {
    if (!hasBody(request.raw)) return payload;
    // The client went while its credentials were checked: its body would never end.
    if (reply.raw.destroyed) throw overloaded();
    const share = budget.enter();
    if (!share) throw overloaded();
    onceClosed(reply.raw, () => share.release());
    const counted = new CountedBody(share);
    // If no route reads the body, no other code listens.
    counted.on("error", () => undefined);
    payload.once("error", (error) => counted.destroy(error));
    return payload.pipe(counted);
  });

  app.addHook("onSend", async (request, reply, payload) => {
    if (hasLargeRest(request.raw)) {
      reply.header("connection", "close");
      request.raw.unpipe();
      closeLingering(request.raw);
    }
    return payload;
  });
}

/** Thirty pages of the maximum size. */
const ANSWERS_BYTES_MAX = 128 * 1024 * 1024;
/** Smaller responses are not counted: a connection costs more. */
const SMALL_RESPONSE_BYTES = 64 * 1024;

export function registerResponseBudget(app: FastifyInstance, budget = new BodyBudget(ANSWERS_BYTES_MAX)): void {
  app.addHook("onSend", async (_request, reply, payload) => {
    const bytes = typeof payload === "string" || Buffer.isBuffer(payload) ? payload.length : 0;
    if (bytes <= SMALL_RESPONSE_BYTES) return payload;
    const share = budget.enter();
    const isCounted = share?.take(bytes);
    onceClosed(reply.raw, () => share?.release());
    if (!isCounted) throw new RestRefusal("overloaded", "Too many large responses are unread. Retry in a moment.");
    return payload;
  });
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined;
}

class CountedBody extends Transform {
  /** Read by the framework, which compares it with the limit of the route. */
  receivedEncodedLength = 0;
  readonly #share: BodyShare;

  constructor(share: BodyShare) {
    super();
    this.#share = share;
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.receivedEncodedLength += chunk.length;
    if (this.#share.take(chunk.length)) done(null, chunk);
    else done(overloaded());
  }
}

function overloaded(): RestRefusal {
  return new RestRefusal("overloaded", "The service is at capacity. Retry in a moment.");
}
