/**
 * Dashboard sessions: a random token in a cookie, its hash in the store. A session has the role and the restrictions of
 * its API key, and ends with it; that of a person has the role that the rules in force give to their claims, and ends when they give none. It expires twelve hours after its last use, and seven days after sign-in.
 */

import { createHash, randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { SessionId } from "@inlet/protocol";
import type { FastifyRequest } from "fastify";
import type { Logger } from "pino";
import type { Key, Session, SessionPerson, SessionStore } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";
import { type CookieRules, cookieValue, setCookieText } from "./cookies.ts";
import type { Grant } from "./grants.ts";
import { holding, type Principal } from "./principal.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set if the request was made with the session cookie. */
    session: Session | null;
  }
}

export const SESSION_COOKIE = "inlet_session";
export const LOGIN_LINK = "login link";

const IDLE_MS = 12 * 3_600_000;
const LIFETIME_MS = 7 * 86_400_000;
/** The use of a session is recorded at most this often, so that reading does not write. */
const TOUCH_EVERY_MS = 60_000;
const USER_AGENT_UNITS_MAX = 200;

export interface SessionsParts {
  store: SessionStore;
  /** The key with this id, unless it is revoked. */
  workingKey(id: Key["id"]): Key | null;
  /** The roles of a person by the rules in force. */
  personGrants(person: SessionPerson): readonly Grant[];
  newId(): string;
  log: Logger;
  now: () => number;
}

export interface LivingSession {
  session: Session;
  principal: Principal;
}

export interface OpenedSession extends LivingSession {
  token: string;
  cookieAgeS: number;
}

export class Sessions {
  readonly #parts: SessionsParts;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
  }

  async open(who: Key | SessionPerson | null, ip: string, userAgent: string | undefined): Promise<OpenedSession> {
    const [key, person] = who && "subject" in who ? [null, who] : [who, null];
    const { store, newId, now } = this.#parts;
    const token = randomBytes(32).toString("base64url");
    const createdAt = now();
    const session: Session = {
      id: `ses_${newId()}` as SessionId,
      hash: hashToken(token),
      keyId: key?.id ?? null,
      createdAt,
      lastSeenAt: createdAt,
      expiresAt: createdAt + IDLE_MS,
      ip,
      userAgent: userAgent?.slice(0, USER_AGENT_UNITS_MAX) ?? null,
      ...(person && { person }),
    };
    await store.sessionInsert(session);
    const living = this.#living(session);
    if (!living) throw new RestRefusal("session_missing", "The session ended at once: its API key was revoked meanwhile.");
    // The store determines the expiry; the cookie only has to last long enough.
    return { ...living, token, cookieAgeS: LIFETIME_MS / 1_000 };
  }

  /** The session of a token, unless it has expired. Using it extends it. */
  async use(token: string): Promise<LivingSession | null> {
    const { store, log, now } = this.#parts;
    const living = await this.#find(hashToken(token));
    if (!living || now() - living.session.lastSeenAt < TOUCH_EVERY_MS) return living;
    const { session } = living;
    const touched = { ...session, lastSeenAt: now(), expiresAt: Math.min(now() + IDLE_MS, session.createdAt + LIFETIME_MS) };
    // A store that is not writable must not keep people from reading.
    await store.sessionTouch(touched).catch((error) => log.warn({ err: error }, "a session could not be extended"));
    return { ...living, session: touched };
  }

  /** Newest first. */
  async list(): Promise<LivingSession[]> {
    return (await this.#parts.store.sessionList()).flatMap((session) => this.#living(session) ?? []);
  }

  async #find(hash: string): Promise<LivingSession | null> {
    const session = await this.#parts.store.sessionFind({ hash });
    return session && this.#living(session);
  }

  #living(session: Session): LivingSession | null {
    if (session.expiresAt <= this.#parts.now()) return null;
    const holder = this.#holder(session);
    if (!holder) return null;
    // A change of rights ends what is open, as the end of the session does.
    const isValid = async () => isDeepStrictEqual((await this.#find(session.hash))?.principal.grants, holder.grants);
    return { session, principal: { kind: "session", id: session.id, ...holder, isValid } };
  }

  /** Who the session belongs to now; null: it has ended. */
  #holder({ keyId, person }: Session): Omit<Principal, "kind" | "id" | "isValid"> | null {
    if (person) {
      const grants = this.#parts.personGrants(person);
      return grants.length === 0 ? null : { keyId: `person ${person.subject}`, name: person.name, ...holding(grants) };
    }
    if (keyId === null) return { keyId: LOGIN_LINK, name: LOGIN_LINK, ...holding([{ role: "admin", environments: null }]) };
    const key = this.#parts.workingKey(keyId);
    return key && { keyId, name: key.name, ...holding([{ role: key.role ?? "read", environments: key.environments }]) };
  }
}

/** The token in the cookies of a request. */
export function sessionToken(rules: CookieRules, request: FastifyRequest): string | null {
  return cookieValue(rules, request, SESSION_COOKIE);
}

export function sessionCookie(rules: CookieRules, request: FastifyRequest, token: string, ageS: number): string {
  return setCookieText(rules, request, [SESSION_COOKIE, token], { ageS, sameSite: "Strict" });
}

function hashToken(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}
