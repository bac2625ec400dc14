/**
 * Cookies of the dashboard. Over https their names begin with `__Host-`: browsers then accept them only from this host, with https and for
 * all paths, so that neither another host of the domain nor a plain http page can set one. Over http a browser would keep no such cookie,
 * so the name has no prefix there. A request is read with the one name that it would have been given.
 */

import type { FastifyRequest } from "fastify";

export interface CookieRules {
  publicUrl: string | null;
}

export interface CookieOptions {
  ageS: number;
  sameSite: "Strict" | "Lax";
}

export const SECURE_PREFIX = "__Host-";

type CookieRequest = Pick<FastifyRequest, "protocol" | "headers">;

export function setCookieText(
  rules: CookieRules,
  request: CookieRequest,
  [name, value]: readonly [name: string, value: string],
  { ageS, sameSite }: CookieOptions,
): string {
  const secure = isSecure(rules, request);
  return `${nameOf(name, secure)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${ageS}${secure ? "; Secure" : ""}`;
}

/** The value, if it consists of letters, digits, `-` and `_`; null otherwise, or if there is none. */
export function cookieValue(rules: CookieRules, request: CookieRequest, name: string): string | null {
  const wanted = `${nameOf(name, isSecure(rules, request))}=`;
  const pairs = (request.headers.cookie ?? "").split(";").map((pair) => pair.trim());
  const value = pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) ?? "";
  return /^[\w-]{1,2048}$/.test(value) ? value : null;
}

function nameOf(name: string, secure: boolean): string {
  return secure ? `${SECURE_PREFIX}${name}` : name;
}

/** The protocol is the one that a trusted proxy reports, or that of the connection. */
function isSecure({ publicUrl }: CookieRules, { protocol }: CookieRequest): boolean {
  return publicUrl?.startsWith("https:") || protocol === "https";
}
