/** Discovers the OpenID Connect provider at start. Invalid settings or an unreachable issuer end the start with a clear message. */

import { type OidcRoutesParts, openOidc } from "../api/access/oidc.ts";
import type { Config } from "../config/config.ts";
import { StartRefused } from "./start-refused.ts";

/** As in URLs. */
const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

export async function connectOidc(config: Config): Promise<OidcRoutesParts["oidc"]> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret, oidcRoles: roles } = config;
  if (issuer === null && (clientId ?? clientSecret) === null && roles.length === 0) return null;
  if (issuer === null) throw new StartRefused("the settings for OpenID Connect need --oidc-issuer as well");
  if (clientId === null) throw new StartRefused("--oidc-issuer needs --oidc-client-id as well");
  if (roles.length === 0) throw new StartRefused("--oidc-issuer needs --oidc-roles as well: without it nobody has a role");
  const { protocol, hostname } = new URL(issuer);
  if (protocol !== "https:" && !LOOPBACK.test(hostname))
    throw new StartRefused(
      `--oidc-issuer ${issuer} must be https: whoever can change what it answers over http could sign in as anyone. Only an issuer on this machine may use http.`,
    );
  const settings = { issuer, clientId, clientSecret, roles };
  try {
    return { settings, provider: await openOidc(settings) };
  } catch (error) {
    const reason = (error as { cause?: { message?: string } }).cause?.message ?? (error as Error).message;
    throw new StartRefused(`the OpenID Connect issuer ${issuer} cannot be reached, see --oidc-issuer: ${reason}`, error);
  }
}
