/**
 * `Idempotency-Key` on requests that create something: the same key with the same request, within 24 hours, creates nothing more and
 * returns the first response again. Keys belong to their sender: the API key, or the session.
 *
 * A response that contains a secret is not stored: a repeated request is told what it created. A response whose `keys` are shown once is
 * repeated without them.
 * A refused request frees its key. A claim without a response after a minute belonged to a process that died, and is freed too:
 * in that case a repeated request may create a second object.
 */

import { createHash } from "node:crypto";
import { environmentNamed } from "@inlet/protocol";
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { IdempotencyKeyRef, IdempotencyStore, RememberedCall } from "../../store/contract/index.ts";
import { bodyText } from "../body-text.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { principalOf } from "./principal.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route accepts an Idempotency-Key. `secret`: its response must not be stored. `keys-once`: it is stored without `data.keys`. */
    idempotent?: "replayed" | "secret" | "keys-once";
  }

  interface FastifyRequest {
    /** The key that this request has claimed. */
    idempotencyKey: IdempotencyKeyRef | null;
  }
}

export interface IdempotencyParts {
  store: IdempotencyStore;
  log: Logger;
  now: () => number;
}

export const REMEMBERED_MS = 24 * 3_600_000;
export const IDEMPOTENCY_HEADER = "idempotency-key";
const ABANDONED_MS = 60_000;

export function registerIdempotency(app: FastifyInstance, { store, log, now }: IdempotencyParts): void {
  app.decorateRequest("idempotencyKey", null);

  app.addHook("preHandler", async (request, reply) => {
    const key = request.headers[IDEMPOTENCY_HEADER];
    if (request.routeOptions.config.idempotent === undefined || key === undefined) return;
    if (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key)) {
      throw invalid("Idempotency-Key", "must be 1 to 255 visible characters of ASCII");
    }
    const ref = { owner: principalOf(request).id, key };
    const [startedAt, fingerprint] = [now(), fingerprintOf(request)];
    const known = await store.idempotencyClaim({
      ...ref,
      fingerprint,
      startedAt,
      abandonedUntil: startedAt - ABANDONED_MS,
      forgottenUntil: startedAt - REMEMBERED_MS,
    });
    if (known) return repeat(request, reply, known, fingerprint);
    request.idempotencyKey = ref;
  });

  app.addHook("onSend", async (request, reply, payload) => {
    const ref = request.idempotencyKey;
    if (!ref) return payload;
    request.idempotencyKey = null;
    const isKept = reply.statusCode < 400 && typeof payload === "string";
    const kept = isKept ? KEPT[request.routeOptions.config.idempotent ?? "replayed"](payload) : "";
    // The object was created, whether or not this can be recorded.
    await (isKept ? store.idempotencyResponse({ ...ref, status: reply.statusCode, body: kept }) : store.idempotencyRelease(ref)).catch(
      (error) => log.warn({ err: error }, "the outcome of a request with an idempotency key could not be stored"),
    );
    return payload;
  });
}

function repeat(request: FastifyRequest, reply: FastifyReply, { fingerprint, answer }: RememberedCall, mine: string): FastifyReply {
  if (fingerprint !== mine) {
    throw new RestRefusal(
      "idempotency_key_reused",
      "This Idempotency-Key was already used with a different request. Use a new key for a new request.",
    );
  }
  if (!answer) throw new RestRefusal("idempotency_key_busy", "The first request with this Idempotency-Key is still in progress.");
  if (request.routeOptions.config.idempotent === "secret") {
    const { id } = JSON.parse(answer.body);
    const message = `This request was already made and created ${id}. Its secret was shown once and is not stored; if you lost it, delete the object and create another.`;
    throw new RestRefusal("idempotency_key_used", message, [{ field: "id", message: id }]);
  }
  return reply.code(answer.status).type("application/json").header("idempotency-replayed", "true").send(answer.body);
}

/** What is stored of a response. */
const KEPT: Readonly<Record<NonNullable<FastifyContextConfig["idempotent"]>, (payload: string) => string>> = {
  replayed: (payload) => payload,
  secret: (payload) => JSON.stringify({ id: JSON.parse(payload).data.id }),
  "keys-once": (payload) => {
    const { keys: _keys, ...data } = JSON.parse(payload).data;
    return JSON.stringify({ data });
  },
};

/** What makes two requests equal: route, environment and body. */
function fingerprintOf(request: FastifyRequest): string {
  const call = [request.method, request.url, environmentNamed(request.headers), bodyText(request.body) ?? request.body];
  return createHash("sha256").update(JSON.stringify(call)).digest("hex");
}
