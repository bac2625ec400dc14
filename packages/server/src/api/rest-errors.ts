/** Formats every error of the REST API in the common shape of the service's errors. */

import { ERRORS, type ErrorCode, errorBody, type Fault, Refusal, type RefusalDetails } from "@inlet/protocol";
import type { FastifyError, FastifyInstance, FastifyReply } from "fastify";
import type { Logger } from "pino";
import { ArchiveUnusable, StoreUnavailable } from "../store/contract/index.ts";
import { faultsOf } from "./validation-faults.ts";

/** Thrown by handlers to respond with a refusal. */
export class RestRefusal extends Error {
  readonly refusal: Refusal;
  constructor(code: ErrorCode, message: string, details?: RefusalDetails, retryAfterS?: number) {
    super(message);
    this.refusal = new Refusal(code, message, details, retryAfterS);
  }
}

/** A request with an invalid field. */
export function invalid(field: string, message: string): RestRefusal {
  return new RestRefusal("request_invalid", `${field} ${message}.`, [{ field, message }]);
}

export function sendRefusal(reply: FastifyReply, refused: Refusal): FastifyReply {
  if (ERRORS[refused.code].retry === "retryable") reply.header("retry-after", String(refused.retryAfterS ?? 1));
  return reply.code(refused.status).type("application/json").send(errorBody(refused));
}

export function registerRestErrors(app: FastifyInstance, log: Logger): void {
  app.setErrorHandler<FastifyError>((error, request, reply) => {
    const refused = refusalFor(error);
    if (refused.code === "internal_error") log.error({ err: error, route: request.routeOptions.url }, "request failed unexpectedly");
    return sendRefusal(reply, refused);
  });
}

/** The response to an error of a handler or of the framework. */
export function refusalFor(error: FastifyError): Refusal {
  if (error instanceof RestRefusal) return error.refusal;
  if (error instanceof ArchiveUnusable) return new Refusal("store_unavailable", archiveText(error));
  if (error instanceof StoreUnavailable) return new Refusal("store_unavailable", "The store is not available: try again in a moment.");
  if (error.validation) return invalidRequest(faultsOf(error.validation));
  switch (error.statusCode) {
    case 400:
      return new Refusal("body_invalid", error.message);
    // For a method so unusual that no route could have it.
    case 404:
      return new Refusal("route_not_found", "There is no such path, or not with this method.");
    case 413:
      return new Refusal("body_too_large", error.message);
    case 415:
      return new Refusal("content_type_unsupported", "The REST API reads application/json.");
    default:
      return new Refusal("internal_error", "Unexpected error. See the log of the service.");
  }
}

export function invalidRequest(faults: readonly Fault[]): Refusal {
  return new Refusal("request_invalid", `${faults.map(({ field, message }) => `${field} ${message}`).join(", ")}.`, faults);
}

/** Why is in the log: it may name addresses. */
function archiveText({ file }: ArchiveUnusable): string {
  const what = file === null ? "The archive cannot be read right now." : `The file ${file} of the archive cannot be read.`;
  return `${what} The log of the service says why.`;
}
