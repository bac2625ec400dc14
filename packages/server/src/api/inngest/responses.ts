/**
 * The response formats of Inngest's API: `{"data": …, "metadata": {…}}`, and errors as `{"error", "data": null, "status"}`; version 2 has
 * `{"errors": [{"code", "message"}]}`. Its server writes names in snake case and its document in camel case: where they differ,
 * both are included.
 */

import { type EnvironmentId, ERRORS, type Refusal, stableUuid } from "@inlet/protocol";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Logger } from "pino";
import { refusalFor } from "../rest-errors.ts";

/** There is one account. */
export const ACCOUNT_ID = "00000000-0000-0000-0000-000000000000";

export function environmentUuid(id: EnvironmentId): string {
  return stableUuid(`environment/${id}`);
}

/** `data` is JSON text: payloads are included as sent. */
export function sendData(reply: FastifyReply, now: number, data: string, page?: object): FastifyReply {
  const at = JSON.stringify(new Date(now).toISOString());
  const pageText = page === undefined ? "" : `,"page":${JSON.stringify(page)}`;
  return reply.type("application/json").send(`{"data":${data},"metadata":{"fetched_at":${at},"fetchedAt":${at}}${pageText}}`);
}

export function registerPeerErrors(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const refused = refusalFor(error);
    if (refused.code === "internal_error") log.error({ err: error, route: request.routeOptions.url }, "request failed unexpectedly");
    if (ERRORS[refused.code].retry === "retryable") reply.header("retry-after", String(refused.retryAfterS ?? 1));
    return reply.code(refused.status).type("application/json").send(errorText(request, refused));
  });
}

function errorText({ routeOptions }: FastifyRequest, { code, message, status }: Refusal): string {
  const isSecond = routeOptions.url?.startsWith("/v1") === false;
  return JSON.stringify(isSecond ? { errors: [{ code, message }] } : { error: message, code, data: null, status });
}
