/**
 * Protects a dev server, which requires no keys, from pages of other sites. It runs before every route.
 *
 * Such requests are recognised by two things. `Origin` and `Sec-Fetch-Site` name the page that caused a request; browsers set them and
 * pages cannot. `Host` is the name used to reach the server: a site can make its own name resolve to 127.0.0.1 or to an address of the
 * local network (DNS rebinding), but cannot change that name. SDKs, curl and other programs send neither of the first two and are allowed.
 * Without https, a browser sends neither with what a page reads from its own origin: a name that a site can own is refused to every client.
 */

import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { Refusal } from "@inlet/protocol";

export interface DevGuardRules {
  /** The address or the name that it listens on. */
  host: string;
  /** It listens on the loopback interface only: no legitimate client uses a name other than localhost. */
  loopbackOnly: boolean;
  publicUrl: string | null;
  /** Origins of allowed pages, as browsers write them. */
  allowedOrigins: readonly string[];
}

export type DevGuard = (request: Pick<IncomingMessage, "headers" | "method">) => Refusal | null;

const LOCAL_NAME = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;
/** Suffixes that no site can register. */
const PRIVATE_SUFFIX = /\.(?:local|localhost|internal|test|lan|home\.arpa|svc)$/;
const SITES_ALLOWED: ReadonlySet<unknown> = new Set([undefined, "same-origin", "none"]);

export function createDevGuard({ host: ownHost, loopbackOnly, publicUrl, allowedOrigins }: DevGuardRules): DevGuard {
  const publicHost = publicUrl === null ? null : new URL(publicUrl).host;
  const allowed = new Set(allowedOrigins);
  const isTrustedName = (host: string) =>
    LOCAL_NAME.test(host) || host === publicHost || (!loopbackOnly && isNetworkName(host, ownHost.toLowerCase()));
  return ({ headers, method }) => {
    const { host = "", origin, "sec-fetch-site": site, "sec-fetch-mode": mode } = headers;
    if (!isTrustedName(host)) return wrongName(host, loopbackOnly ? "open it as localhost" : "use its IP address");
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

/** An IP address, or a name that no site could make resolve to this machine. Browsers always send a name. */
function isNetworkName(host: string, ownHost: string): boolean {
  if (host === "") return true;
  const hostname = URL.parse(`http://${host}`)?.hostname.replace(/^\[|\]$|\.$/g, "");
  if (hostname === undefined) return false;
  return isIP(hostname) !== 0 || !hostname.includes(".") || PRIVATE_SUFFIX.test(hostname) || hostname === ownHost;
}

function wrongName(host: string, advice: string): Refusal {
  return new Refusal(
    "origin_forbidden",
    `This dev server cannot be used as "${host}": ${advice}, or start it with --public-url and that address.`,
  );
}

function foreignPage(origin: string | null): Refusal {
  const advice = origin === null ? "" : ` For a page of yours, start it with --allow-origin ${origin}.`;
  return new Refusal("origin_forbidden", `A page of another site must not call this dev server.${advice}`);
}
