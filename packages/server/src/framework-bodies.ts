/**
 * Bodies of requests that go to the framework, bounded together with those of `/e/…`: what has arrived counts against the one budget until
 * the request is answered. Credentials are checked before, in `onRequest`, when nothing of a body has been read.
 */

import type { IncomingMessage } from "node:http";
import { Transform, type TransformCallback } from "node:stream";
import type { FastifyInstance } from "fastify";
import { RestRefusal } from "./api/rest-errors.ts";
import type { BodyBudget, BodyShare } from "./receive/body-budget.ts";
import { closeLingering, hasLargeRest } from "./receive/close-lingering.ts";

export function registerBodyBudget(app: FastifyInstance, budget: BodyBudget): void {
  app.addHook("preParsing", async (request, reply, payload) => {
    if (!hasBody(request.raw)) return payload;
    const share = budget.enter();
    if (!share) throw overloaded();
    reply.raw.once("close", () => share.release());
    const counted = new CountedBody(share);
    payload.once("error", (error) => counted.destroy(error));
    return payload.pipe(counted);
  });

  app.addHook("onSend", async (request, reply, payload) => {
    if (hasLargeRest(request.raw)) {
      reply.header("connection", "close");
      reply.raw.once("finish", () => {
        request.raw.unpipe();
        closeLingering(request.raw);
      });
    }
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
  return new RestRefusal("overloaded", "The service holds as many requests as it can. Send again in a moment.");
}
