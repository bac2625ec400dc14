/**
 * Identifies a person, and maps the claims of their provider to roles. A session keeps the claims, not the roles: these follow from the
 * rules in force at each request.
 */

import { API_ROLES, type ApiRole, type SessionPerson } from "../../store/contract/index.ts";
import type { Grant } from "./grants.ts";

/** `given` null: the claim's own values are roles. `environments` null: everywhere. */
export interface OidcRoleRule {
  claim: string;
  given: { value: string; role: string } | null;
  environments: readonly string[] | null;
}

/** The rules in force. */
export interface OidcRules {
  issuer: string;
  roles: readonly OidcRoleRule[];
}

export type Claims = Readonly<Record<string, unknown>> & { sub: string };

const NAME_UNITS_MAX = 200;
/** Of the claims of one person, as JSON text. */
const CLAIMS_UNITS_MAX = 64 * 1024;

export function personOf(issuer: string, claims: Claims): SessionPerson {
  const believed = believedClaims(claims);
  return { issuer, subject: `${issuer} ${claims.sub}`, name: nameOf(claims.sub, believed), claims: textClaims(believed) };
}

/** Empty if no claim gives a role, if the person signed in at another issuer, or if there is no OpenID Connect (`rules` null). */
export function grantsOf({ issuer, claims }: SessionPerson, rules: OidcRules | null): Grant[] {
  if (rules === null || issuer !== rules.issuer) return [];
  return rules.roles.flatMap(({ claim, given, environments }) =>
    rolesIn(claims[claim] ?? [], given).map((role) => ({ role: role as ApiRole, environments })),
  );
}

function rolesIn(values: readonly string[], given: OidcRoleRule["given"]): string[] {
  if (given === null) return values.filter((value) => (API_ROLES as readonly string[]).includes(value));
  return values.includes(given.value) ? [given.role] : [];
}

/** Anyone can enter any address at many providers: an email counts once the provider has verified it. */
function believedClaims({ email, ...claims }: Claims): Readonly<Record<string, unknown>> {
  return claims.email_verified === true ? { ...claims, email } : claims;
}

/** Rules are about texts: nothing else is kept. A person with too many claims keeps none beyond the limit, and no role that needs those. */
function textClaims(claims: Readonly<Record<string, unknown>>): Record<string, string[]> {
  const kept: [string, string[]][] = [];
  let units = 0;
  for (const [claim, value] of Object.entries(claims)) {
    const texts = (Array.isArray(value) ? value : [value]).filter((text) => typeof text === "string");
    units += JSON.stringify([claim, texts]).length;
    if (texts.length > 0 && units <= CLAIMS_UNITS_MAX) kept.push([claim, texts]);
  }
  return Object.fromEntries(kept);
}

function nameOf(subject: string, { email, preferred_username: username, name }: Readonly<Record<string, unknown>>): string {
  const known = [email, username, name].find((value) => typeof value === "string" && value !== "");
  return String(known ?? subject).slice(0, NAME_UNITS_MAX);
}
