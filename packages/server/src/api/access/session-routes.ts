/** REST: signing in to the dashboard, signing out, and open sessions. */

import type { SessionId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { API_ROLES, type Key, type SessionStore } from "../../store/contract/index.ts";
import { cutPage } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { BOOLEAN, dataOf, INSTANT, INSTANT_OR_NULL, pageOf, shape, TEXT, TEXT_OR_NULL } from "../route-facts.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { LoginTokens } from "./login-tokens.ts";
import { DEV_PRINCIPAL, mayUse, type Principal, principalOf } from "./principal.ts";
import type { AccessRules } from "./rest-access.ts";
import { originOf } from "./same-origin.ts";
import { type LivingSession, LOGIN_LINK, sessionCookie } from "./sessions.ts";

export interface SessionRoutesParts {
  audit: AuditTrail;
  access: AccessRules;
  store: SessionStore;
  loginTokens: LoginTokens;
  version: string;
  /** What keeps the data: a database of several environments can only be added to PostgreSQL. */
  storeKind: "sqlite" | "postgres";
  /** Null: nothing is archived. */
  archive: object | null;
}

const ROLE = { type: "string", enum: API_ROLES };
const SIGNED_IN = shape({ role: ROLE, name: TEXT, expiresAt: INSTANT_OR_NULL });
const WHO = shape(
  {
    required: { ...BOOLEAN, description: "False on a dev server, which has no sign-in." },
    role: ROLE,
    name: TEXT,
    expiresAt: { ...INSTANT_OR_NULL, description: "When the session ends unless it is used; null without a session." },
    mode: { type: "string", enum: ["dev", "start"] },
    version: TEXT,
    store: { type: "string", enum: ["sqlite", "postgres"], description: "What keeps the data: an embedded database, or PostgreSQL." },
    archive: { ...BOOLEAN, description: "Whether old events are archived (`--archive`), so that they can be listed with `archived=true`." },
    environments: { type: ["array", "null"], items: TEXT, description: "Where the caller has a role; null: everywhere." },
    defaultEnvironment: { ...TEXT, description: "The installation's own, or the first that the caller may see." },
  },
  { title: "SignedIn" },
);
const SESSION = shape(
  {
    id: TEXT,
    name: { type: "string", description: "The name of the API key it was opened with, or `login link`." },
    role: ROLE,
    ip: TEXT,
    userAgent: TEXT_OR_NULL,
    createdAt: INSTANT,
    lastSeenAt: INSTANT,
    expiresAt: INSTANT,
    current: { ...BOOLEAN, description: "Whether this is the current session." },
  },
  { title: "Session" },
);
const NONE = closed({});
/** The credential is in the body, so the body can be small. */
const SIGN_IN_BYTES_MAX = 2_048;

export function registerSessionRoutes(app: FastifyInstance, parts: SessionRoutesParts): void {
  const { access, store } = parts;
  const { sessions } = access;
  const setCookie = (request: FastifyRequest, reply: FastifyReply, value: string, ageS: number) =>
    void reply.header("set-cookie", sessionCookie(access, request, value, ageS));

  const note = (request: FastifyRequest, action: string, { id, name }: { id: string; name: string }) =>
    parts.audit.note(request, { action: `session.${action}`, target: { kind: "session", id, name }, details: { ip: request.ip } });

  const signIn = {
    summary: "Sign in",
    description: "With an API key, or with the token of a login link. Sets the session cookie.",
    body: closed({
      apiKey: { type: "string", minLength: 1, maxLength: 512 },
      loginToken: { type: "string", minLength: 1, maxLength: 512 },
    }),
    querystring: NONE,
    response: { 201: dataOf(SIGNED_IN) },
    errors: ["api_key_invalid", "login_token_invalid", "origin_forbidden", "too_many_attempts"],
  } as const;
  const signInRoute = {
    config: { about: "anyone" },
    schema: signIn,
    bodyLimit: SIGN_IN_BYTES_MAX,
    onRequest: async (request: FastifyRequest) => {
      if (!access.open && originOf(request, access.publicUrl) === "cross")
        throw new RestRefusal("origin_forbidden", "Another site's page cannot sign in here.");
    },
  } as const;
  app.post<{ Body: Credentials }>("/session", signInRoute, async (request, reply) => {
    reply.code(201);
    if (access.open) return { data: signedIn(DEV_PRINCIPAL, null) };
    const key = credentialOf(parts, request.ip, request.body);
    const { session, principal, token, cookieAgeS } = await sessions.open(key, request.ip, request.headers["user-agent"]);
    setCookie(request, reply, token, cookieAgeS);
    request.principal = principal;
    await note(request, "created", principal);
    return { data: signedIn(principal, session.expiresAt) };
  });

  const who = { summary: "Who is signed in", querystring: NONE, response: { 200: dataOf(WHO) }, errors: ["session_missing"] } as const;
  app.get("/session", { config: { about: "self" }, schema: who }, async (request) => {
    const { open, defaultEnvironment } = access;
    const mode = open ? "dev" : "start";
    const principal = principalOf(request);
    const person = signedIn(principal, request.session?.expiresAt ?? null);
    const mine = access.directory.environments().filter((environment) => environment.kind !== "shared" && mayUse(principal, environment));
    const first = mine.find(({ name }) => name === defaultEnvironment) ?? mine.find(({ archivedAt }) => archivedAt === null);
    return {
      data: {
        required: !open,
        ...person,
        mode,
        version: parts.version,
        store: parts.storeKind,
        archive: parts.archive !== null,
        environments: principal.environments,
        defaultEnvironment: first?.name ?? defaultEnvironment,
      },
    };
  });

  const signOut = {
    ...who,
    summary: "Sign out",
    querystring: closed({
      everywhere: { type: "boolean", default: false, description: "End every session of the same person, or of the same API key." },
    }),
    response: { 200: dataOf(shape({ id: TEXT })) },
  };
  app.delete<{ Querystring: { everywhere: boolean } }>(
    "/session",
    { config: { about: "self" }, schema: signOut },
    async (request, reply) => {
      const { session } = request;
      if (!session) throw new RestRefusal("session_missing", "There is no session to end.");
      const { keyId } = principalOf(request);
      const others = request.query.everywhere ? (await sessions.list()).filter(({ principal }) => principal.keyId === keyId) : [];
      for (const { session: other } of others) await store.sessionDelete({ id: other.id });
      await store.sessionDelete({ id: session.id });
      setCookie(request, reply, "", 0);
      await note(request, "ended", principalOf(request));
      return { data: { id: session.id } };
    },
  );

  const list = { summary: "List who is signed in, newest first", querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(SESSION) } };
  app.get<{ Querystring: { limit: number; cursor?: string } }>(
    "/sessions",
    { config: { about: "installation" }, schema: list },
    async (request) => {
      const positionOf = ({ session: { createdAt, id } }: LivingSession) => ({ rank: createdAt, id });
      const { items, next } = cutPage(await sessions.list(), positionOf, request.query);
      return { data: items.map((one) => ({ ...sessionView(one), current: one.session.id === request.session?.id })), page: { next } };
    },
  );

  const end = {
    summary: "End a session",
    querystring: NONE,
    response: { 200: dataOf(shape({ id: TEXT })) },
    errors: ["session_not_found"],
  } as const;
  app.delete<{ Params: { id: string } }>("/sessions/:id", { config: { about: "installation" }, schema: end }, async (request) => {
    const { id } = request.params;
    const ended = await store.sessionDelete({ id: id as SessionId });
    if (!ended) throw new RestRefusal("session_not_found", `There is no session ${id}, or it has ended.`);
    const key = ended.keyId === null ? null : access.directory.workingKey(ended.keyId);
    await note(request, "ended", { id, name: key?.name ?? ended.person?.name ?? LOGIN_LINK });
    return { data: { id } };
  });
}

interface Credentials {
  apiKey?: string;
  loginToken?: string;
}

/** The key to sign in with, or null for a login link. Throws if neither is valid. */
function credentialOf({ access, loginTokens }: SessionRoutesParts, ip: string, { apiKey, loginToken }: Credentials): Key | null {
  if ((apiKey === undefined) === (loginToken === undefined)) throw invalid("body", "must have either apiKey or loginToken");
  if (apiKey !== undefined) {
    const key = access.directory.key("api", apiKey);
    access.attempts.check(ip, key?.id ?? null);
    if (!key) throw new RestRefusal("api_key_invalid", "This API key is unknown or was revoked.");
    return key;
  }
  const token = loginToken ?? "";
  access.attempts.check(ip, loginTokens.isOpen(token) ? token : null);
  if (!loginTokens.redeem(token))
    throw new RestRefusal("login_token_invalid", "This login link was used before, or is older than 15 minutes.");
  return null;
}

function signedIn({ role, name }: Principal, expiresAt: number | null) {
  return { role, name, expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString() };
}

function sessionView({ session, principal: { name, role } }: LivingSession) {
  const { id, ip, userAgent, createdAt, lastSeenAt, expiresAt } = session;
  const [began, seen, ends] = [createdAt, lastSeenAt, expiresAt].map((instant) => new Date(instant).toISOString());
  return { id, name, role, ip, userAgent, createdAt: began, lastSeenAt: seen, expiresAt: ends };
}
