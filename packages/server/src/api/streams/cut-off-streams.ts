/** Ends answers that go on, such as live tails, when whoever asked for them may no longer: a key revoked, a session over. */

import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Principal } from "../access/principal.ts";
import { STREAM_TYPE } from "./server-sent.ts";

/** A revocation holds within a second. */
const CHECK_EVERY_MS = 500;

export function cutOffInvalid(app: FastifyInstance): (principal: Principal, reply: FastifyReply) => void {
  const open = new Map<ServerResponse, Principal>();
  const check = async () => {
    for (const [response, principal] of open) {
      // What has not begun to answer is about to, and was let in when it came.
      if (!response.headersSent || response.writableEnded) continue;
      if (await principal.isValid()) continue;
      // A stream can end at any message; anything else would look complete.
      if (response.getHeader("content-type") === STREAM_TYPE) response.end();
      else response.destroy();
    }
  };
  // When the store cannot be read, streams cannot go on either and end by themselves.
  const timer = setInterval(() => void check().catch(() => undefined), CHECK_EVERY_MS).unref();
  app.addHook("onClose", async () => clearInterval(timer));
  return (principal, { raw }) => {
    open.set(raw, principal);
    raw.once("close", () => open.delete(raw));
  };
}
