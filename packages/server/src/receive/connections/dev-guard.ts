/**
 * Protects a dev server, which requires no keys, from pages of other sites. It runs before every route.
 *
 * Such requests are recognised by two things. `Origin` and `Sec-Fetch-Site` name the page that caused a request; browsers set them and
 * pages cannot. `Host` is the name used to reach the server: a site can make its own name resolve to 127.0.0.1 (DNS rebinding), but
 * cannot change that name. SDKs, curl and other programs send neither of the first two and are allowed.
 */

import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { Refusal } from "@inlet/protocol";

export interface DevGuardRules {
  /** It listens on the loopback interface only: no legitimate client uses a name other than localhost. */
  loopbackOnly: boolean;
  publicUrl: string | null;
  /** Origins of allowed pages, as browsers write them. */
  allowedOrigins: readonly string[];
}

export type DevGuard = (request: Pick<IncomingMessage, "headers" | "method">) => Refusal | null;

const LOCAL_NAME = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
const SITES_ALLOWED: ReadonlySet<unknown> = new Set([undefined, "same-origin", "none"]);

export function createDevGuard({ loopbackOnly, publicUrl, allowedOrigins }: DevGuardRules): DevGuard {
  const publicHost = publicUrl === null ? null : new URL(publicUrl).host;
  const allowed = new Set(allowedOrigins);
  const isTrustedName = (host: string) => LOCAL_NAME.test(host) || host === publicHost || (!loopbackOnly && isAddress(host));
  return ({ headers, method }) => {
    const { host = "", origin, "sec-fetch-site": site, "sec-fetch-mode": mode } = headers;
    const isBrowser = origin !== undefined || site !== undefined;
    if (!isTrustedName(host) && (loopbackOnly || isBrowser)) return wrongName(host);
    if (origin !== undefined) {
      const from = URL.parse(origin)?.host;
      const isOwn = from !== undefined && (from === host || from === publicHost);
      return isOwn || allowed.has(origin) ? null : foreignPage(origin);
    }
    // Following a link to the dashboard is not a call: the browser shows the page, and the linking site cannot read it.
    const isLink = mode === "navigate" && (method === "GET" || method === "HEAD");
    return SITES_ALLOWED.has(site) || isLink ? null : foreignPage(null);
  };
}

/** An IP address is not a name that a site could make resolve elsewhere. */
function isAddress(host: string): boolean {
  const hostname = URL.parse(`http://${host}`)?.hostname ?? "";
  return isIP(hostname.replace(/^\[|\]$/g, "")) !== 0;
}

function wrongName(host: string): Refusal {
  return new Refusal(
    "origin_forbidden",
    `This dev server cannot be used as "${host}": open it as localhost, or start it with --public-url and that address.`,
  );
}

function foreignPage(origin: string | null): Refusal {
  const advice = origin === null ? "" : ` For a page of yours, start it with --allow-origin ${origin}.`;
  return new Refusal("origin_forbidden", `A page of another site must not call this dev server.${advice}`);
}
