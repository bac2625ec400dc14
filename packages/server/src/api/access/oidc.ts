/**
 * Sign-in with OpenID Connect: the authorization code flow with PKCE, by `openid-client`, which checks issuer, audience, signature, state
 * and nonce. The state of a sign-in is in a cookie that lives for ten minutes, so any node can handle the callback.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type OwnAddressRules, ownAddress } from "../own-address.ts";
import { RestRefusal } from "../rest-errors.ts";
import { AttemptBudget } from "./attempt-budget.ts";
import type { AuditTrail } from "./audit-trail.ts";
import { cookieValue, setCookieText } from "./cookies.ts";
import { type Claims, grantsOf, type OidcRules, personOf } from "./oidc-claims.ts";
import type { AccessRules } from "./rest-access.ts";
import { sessionCookie } from "./sessions.ts";

export interface OidcSettings extends OidcRules {
  clientId: string;
  clientSecret: string | null;
}

export interface OidcProvider {
  /** The URL to redirect the browser to, and the state to keep until the callback. */
  begin(redirectUri: string): Promise<{ url: string; secrets: SignInSecrets }>;
  /** The claims of the person. Throws if any check fails. */
  finish(callbackUrl: URL, secrets: SignInSecrets): Promise<Claims>;
}

export interface SignInSecrets {
  verifier: string;
  state: string;
  nonce: string;
}

const COOKIE = "inlet_oidc";
const COOKIE_AGE_S = 600;
const SCOPE = "openid profile email";
const DISCOVERY_TIMEOUT_S = 10;
/** Every callback of an address, which needs no credentials, makes the service ask the provider. */
const CALLBACK_LIMITS = { failuresMax: 100, forgivenEveryMs: 1_000 };
/** What a sign-in needs of the provider's metadata. */
const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;

/** Throws if the issuer cannot be reached, or has no valid metadata. */
export async function openOidc({ issuer, clientId, clientSecret }: OidcSettings): Promise<OidcProvider> {
  const client = await import("openid-client");
  const server = new URL(issuer);
  const authentication = clientSecret === null ? client.None() : client.ClientSecretPost(clientSecret);
  // Without this check, openid-client relies on the connection alone, and reads ID tokens that nobody has signed.
  const execute = [client.enableNonRepudiationChecks, ...(server.protocol === "http:" ? [client.allowInsecureRequests] : [])];
  const provider = await client.discovery(server, clientId, {}, authentication, { execute, timeout: DISCOVERY_TIMEOUT_S });
  const protocols = server.protocol === "http:" ? ["http:", "https:"] : ["https:"];
  for (const name of ENDPOINTS)
    if (!protocols.includes(URL.parse(provider.serverMetadata()[name] ?? "")?.protocol ?? ""))
      throw new Error(`its metadata has no valid ${name}`);
  return {
    async begin(redirectUri) {
      const secrets = { verifier: client.randomPKCECodeVerifier(), state: client.randomState(), nonce: client.randomNonce() };
      const url = client.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        code_challenge: await client.calculatePKCECodeChallenge(secrets.verifier),
        code_challenge_method: "S256",
        state: secrets.state,
        nonce: secrets.nonce,
      });
      return { url: url.href, secrets };
    },
    async finish(callbackUrl, { verifier, state, nonce }) {
      const tokens = await client.authorizationCodeGrant(provider, callbackUrl, {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims() as Claims;
      if (!provider.serverMetadata().userinfo_endpoint) return claims;
      return { ...(await client.fetchUserInfo(provider, tokens.access_token, claims.sub)), ...claims };
    },
  };
}

export interface OidcRoutesParts {
  oidc: { provider: OidcProvider; settings: OidcSettings } | null;
  access: AccessRules;
  audit: AuditTrail;
  address: OwnAddressRules;
  now(): number;
}

export function registerOidcRoutes(app: FastifyInstance, { oidc, access, audit, address, now }: OidcRoutesParts): void {
  app.get("/oidc", async () => ({ data: { enabled: oidc !== null } }));
  if (oidc === null) return;
  const { provider, settings } = oidc;
  const callbacks = new AttemptBudget({ now, limits: CALLBACK_LIMITS });
  const redirectUri = (request: FastifyRequest) => `${ownAddress(address, request)}/oidc/callback`;
  // Lax: the provider's redirect must include it.
  const cookie = (request: FastifyRequest, value: string, ageS: number) =>
    setCookieText(access, request, [COOKIE, value], { ageS, sameSite: "Lax" });

  app.get("/oidc/sign-in", async (request, reply) => {
    const { url, secrets } = await provider.begin(redirectUri(request));
    const value = Buffer.from(JSON.stringify(secrets)).toString("base64url");
    return reply
      .header("set-cookie", cookie(request, value, COOKIE_AGE_S))
      .header("cache-control", "no-store")
      .redirect(url);
  });

  app.get("/oidc/callback", { errorHandler: showRefusal }, async (request, reply) => {
    reply.header("cache-control", "no-store");
    const secrets = secretsIn(cookieValue(access, request, COOKIE));
    if (!secrets) throw new RestRefusal("session_missing", "This sign-in took too long, or began in another browser. Sign in again.");
    callbacks.check(request.ip, null);
    const callbackUrl = new URL(`${redirectUri(request)}${request.url.slice(request.url.indexOf("?"))}`);
    const claims = await provider.finish(callbackUrl, secrets).catch((error: Error) => {
      throw new RestRefusal("login_token_invalid", `The sign-in was not completed: ${error.message}.`);
    });
    const person = personOf(settings.issuer, claims);
    if (grantsOf(person, settings).length === 0)
      throw new RestRefusal("role_forbidden", "Your account has no role here. Ask an owner to add it to --oidc-roles.");
    const { principal, token, cookieAgeS } = await access.sessions.open(person, request.ip, request.headers["user-agent"]);
    request.principal = principal;
    const target = { kind: "session", id: principal.id, name: principal.name };
    await audit.note(request, { action: "session.created", target, details: { ip: request.ip } });
    reply.header("set-cookie", [sessionCookie(access, request, token, cookieAgeS), cookie(request, "", 0)]);
    // A page instead of a redirect: a browser sends a Strict cookie only on navigation from our own page.
    return reply.type("text/html").send('<!doctype html><meta http-equiv="refresh" content="0;url=/"><a href="/">Continue</a>');
  });
}

/** A person sees a page with the reason; others get the error in its common shape. */
function showRefusal(error: Error, { headers }: FastifyRequest, reply: FastifyReply) {
  if (!(error instanceof RestRefusal) || !headers.accept?.includes("text/html")) throw error;
  const text = error.message.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  const page = `<!doctype html><title>Sign-in failed</title><p>${text}</p><p><a href="/oidc/sign-in">Sign in again</a> or <a href="/">go back</a>.</p>`;
  return reply.code(error.refusal.status).type("text/html; charset=utf-8").send(page);
}

function secretsIn(value: string | null): SignInSecrets | null {
  try {
    const { verifier, state, nonce } = JSON.parse(Buffer.from(value ?? "", "base64url").toString());
    // openid-client skips the check of what it is not given.
    const isComplete = [verifier, state, nonce].every((text) => typeof text === "string" && text !== "");
    return isComplete ? { verifier, state, nonce } : null;
  } catch {
    return null;
  }
}
