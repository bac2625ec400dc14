/** REST: signing in to the dashboard, signing out, and open sessions. */

import type { SessionId } from "@inlet/protocol";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Key, SessionStore } from "../../store/contract/index.ts";
import { cutPage, type PageQuery } from "../list-page.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { closed, PAGE_PARAMETERS } from "../rest-schemas.ts";
import { dataOf, pageOf, shape, TEXT } from "../route-facts.ts";
import type { AuditTrail } from "./audit-trail.ts";
import type { LoginTokens } from "./login-tokens.ts";
import { DEV_PRINCIPAL, mayUse, type Principal, principalOf } from "./principal.ts";
import type { AccessRules } from "./rest-access.ts";
import { originOf } from "./same-origin.ts";
import { SESSION, SIGNED_IN, WHO } from "./session-schemas.ts";
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

interface Credentials {
  apiKey?: string;
  loginToken?: string;
}

type SignInRequest = { Body: Credentials };
type SignOutRequest = { Querystring: { everywhere: boolean } };
type ListRequest = { Querystring: PageQuery };
type ById = { Params: { id: string } };

/** The credential is in the body, so the body can be small. */
const SIGN_IN_BYTES_MAX = 2_048;
const SIGN_IN = {
  summary: "Sign in",
  description: "With an API key, or with the token of a login link. Sets the session cookie.",
  body: closed({
    apiKey: { type: "string", minLength: 1, maxLength: 512 },
    loginToken: { type: "string", minLength: 1, maxLength: 512 },
  }),
  querystring: closed({}),
  response: { 201: dataOf(SIGNED_IN) },
  errors: ["api_key_invalid", "login_token_invalid", "origin_forbidden", "too_many_attempts"],
} as const;
const WHO_IS_SIGNED_IN = {
  summary: "Get the current session",
  querystring: closed({}),
  response: { 200: dataOf(WHO) },
  errors: ["session_missing"],
} as const;
const SIGN_OUT = {
  ...WHO_IS_SIGNED_IN,
  summary: "Sign out",
  querystring: closed({
    everywhere: { type: "boolean", default: false, description: "End every session of the same person, or of the same API key." },
  }),
  response: { 200: dataOf(shape({ id: TEXT })) },
};
const LIST = { summary: "List who is signed in, newest first", querystring: closed(PAGE_PARAMETERS), response: { 200: pageOf(SESSION) } };
const END = {
  summary: "End a session",
  querystring: closed({}),
  response: { 200: dataOf(shape({ id: TEXT })) },
  errors: ["session_not_found"],
} as const;

export function registerSessionRoutes(app: FastifyInstance, parts: SessionRoutesParts): void {
  const [self, installation] = [{ about: "self" }, { about: "installation" }] as const;
  const signInRoute = {
    config: { about: "anyone" },
    schema: SIGN_IN,
    bodyLimit: SIGN_IN_BYTES_MAX,
    onRequest: async (request: FastifyRequest) => checkOrigin(parts, request),
  } as const;
  app.post<SignInRequest>("/session", signInRoute, (request, reply) => signIn(parts, request, reply));
  app.get("/session", { config: self, schema: WHO_IS_SIGNED_IN }, async (request) => whoIsSignedIn(parts, request));
  app.delete<SignOutRequest>("/session", { config: self, schema: SIGN_OUT }, (request, reply) => signOut(parts, request, reply));
  app.get<ListRequest>("/sessions", { config: installation, schema: LIST }, (request) => listSessions(parts, request));
  app.delete<ById>("/sessions/:id", { config: installation, schema: END }, (request) => endSession(parts, request));
}

function checkOrigin({ access }: SessionRoutesParts, request: FastifyRequest): void {
  if (!access.open && originOf(request, access.publicUrl) === "cross")
    throw new RestRefusal("origin_forbidden", "Another site's page cannot sign in here.");
}

async function signIn(parts: SessionRoutesParts, request: FastifyRequest<SignInRequest>, reply: FastifyReply) {
  const { access } = parts;
  reply.code(201);
  if (access.open) return { data: signedIn(DEV_PRINCIPAL, null) };
  const key = credentialOf(parts, request.ip, request.body);
  const { session, principal, token, cookieAgeS } = await access.sessions.open(key, request.ip, request.headers["user-agent"]);
  reply.header("set-cookie", sessionCookie(access, request, token, cookieAgeS));
  request.principal = principal;
  await note(parts, request, "created", principal);
  return { data: signedIn(principal, session.expiresAt) };
}

function whoIsSignedIn({ access, version, storeKind, archive }: SessionRoutesParts, request: FastifyRequest) {
  const { open, defaultEnvironment } = access;
  const principal = principalOf(request);
  const mine = access.directory.environments().filter((environment) => environment.kind !== "shared" && mayUse(principal, environment));
  const first = mine.find(({ name }) => name === defaultEnvironment) ?? mine.find(({ archivedAt }) => archivedAt === null);
  return {
    data: {
      required: !open,
      ...signedIn(principal, request.session?.expiresAt ?? null),
      mode: open ? "dev" : "start",
      version,
      store: storeKind,
      archive: archive !== null,
      environments: principal.environments,
      defaultEnvironment: first?.name ?? defaultEnvironment,
    },
  };
}

async function signOut(parts: SessionRoutesParts, request: FastifyRequest<SignOutRequest>, reply: FastifyReply) {
  const { access, store } = parts;
  const { session } = request;
  if (!session) throw new RestRefusal("session_missing", "There is no session to end.");
  const { keyId } = principalOf(request);
  const others = request.query.everywhere ? (await access.sessions.list()).filter(({ principal }) => principal.keyId === keyId) : [];
  for (const { session: other } of others) await store.sessionDelete({ id: other.id });
  await store.sessionDelete({ id: session.id });
  reply.header("set-cookie", sessionCookie(access, request, "", 0));
  await note(parts, request, "ended", principalOf(request));
  return { data: { id: session.id } };
}

async function listSessions({ access }: SessionRoutesParts, request: FastifyRequest<ListRequest>) {
  const positionOf = ({ session: { createdAt, id } }: LivingSession) => ({ rank: createdAt, id });
  const { items, next } = cutPage(await access.sessions.list(), positionOf, request.query);
  return { data: items.map((one) => ({ ...sessionView(one), current: one.session.id === request.session?.id })), page: { next } };
}

async function endSession(parts: SessionRoutesParts, request: FastifyRequest<ById>) {
  const { id } = request.params;
  const ended = await parts.store.sessionDelete({ id: id as SessionId });
  if (!ended) throw new RestRefusal("session_not_found", `There is no session ${id}, or it has ended.`);
  const key = ended.keyId === null ? null : parts.access.directory.workingKey(ended.keyId);
  await note(parts, request, "ended", { id, name: key?.name ?? ended.person?.name ?? LOGIN_LINK });
  return { data: { id } };
}

function note({ audit }: SessionRoutesParts, request: FastifyRequest, action: string, { id, name }: { id: string; name: string }) {
  return audit.note(request, { action: `session.${action}`, target: { kind: "session", id, name }, details: { ip: request.ip } });
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
