/**
 * Whoever may not see webhook URLs sees links of approvals without their tokens, wherever they stand: in the event that reports an
 * approval, in what functions make of it, in results and errors. Whoever has the token decides.
 */

import type { FastifyInstance, FastifyRequest } from "fastify";
import { callerRole } from "../access/principal.ts";
import { type AccessRules, environmentOf } from "../access/rest-access.ts";
import { seesSecrets } from "../access/roles.ts";
import { APPROVAL_PATH } from "./approval-url.ts";

const NAME = APPROVAL_PATH.slice(1);
/** Escaped in JSON, or in JSON within JSON; or percent-encoded, as a link in a parameter of another is. Bounded, so that no text takes long. */
const SLASH = String.raw`(?:\\{0,7}/|%(?:25){0,3}2[Ff])`;
const LINK = new RegExp(`(${SLASH}${NAME}${SLASH}[0-9A-HJKMNP-TV-Z]{26}${SLASH})[\\w-]{1,22}`);
const LINKS = new RegExp(LINK, "g");

export function withoutTokens(text: string): string {
  return text.includes(NAME) ? text.replace(LINKS, "$1…") : text;
}

/** Apps may see tokens: they receive them with the event. */
export function seesTokens(access: AccessRules, request: FastifyRequest): boolean {
  const { principal } = request;
  if (!principal || principal.kind === "signing-key" || principal.grants.every(({ role }) => seesSecrets(role))) return true;
  return request.routeOptions.config.about === "environment" && seesSecrets(callerRole(request, environmentOf(access, request)));
}

/** What the caller of the request sees of a text, for streams. */
export function shownTo(access: AccessRules, request: FastifyRequest): (text: string) => string {
  return seesTokens(access, request) ? (text) => text : withoutTokens;
}

/** What no search by the caller of the request may find: otherwise it would find out tokens, one character after the other. */
export function hiddenFromSearch(access: AccessRules, request: FastifyRequest): { hidden?: RegExp } {
  return seesTokens(access, request) ? {} : { hidden: LINK };
}

/** Whole responses. Streams mask their messages themselves. */
export function registerLinkMask(app: FastifyInstance, access: AccessRules): void {
  app.addHook("onSend", async (request, _reply, payload) => {
    if (typeof payload !== "string" || !payload.includes(NAME)) return payload;
    return seesTokens(access, request) ? payload : withoutTokens(payload);
  });
}
