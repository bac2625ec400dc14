/** Ends long responses, such as live streams, when their caller loses access: the key is revoked, or the session has ended. */

import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Principal } from "../access/principal.ts";
import { onceClosed } from "../once-closed.ts";
import { endStream } from "./stream-response.ts";

/** A revocation takes effect within a second. */
const CHECK_EVERY_MS = 500;

export function cutOffInvalid(app: FastifyInstance): (principal: Principal, reply: FastifyReply) => void {
  const open = new Map<ServerResponse, Principal>();
  const check = async () => {
    for (const [response, principal] of open) {
      // A response that has not started yet was authorised when the request arrived.
      if (!response.headersSent || response.writableEnded) continue;
      if (await principal.isValid()) continue;
      // A stream can end at any message; any other response would look complete.
      if (!endStream(response)) response.destroy();
    }
  };
  let isChecking = false;
  const checkOnce = async () => {
    if (isChecking) return;
    isChecking = true;
    // If the store cannot be read, streams cannot continue either and end by themselves.
    await check().catch(() => undefined);
    isChecking = false;
  };
  const timer = setInterval(() => void checkOnce(), CHECK_EVERY_MS).unref();
  app.addHook("onClose", async () => clearInterval(timer));
  return (principal, { raw }) => {
    open.set(raw, principal);
    onceClosed(raw, () => open.delete(raw));
  };
}
