/** Identifies a person, and maps the claims of their provider to a role. */

import { API_ROLES, type ApiRole, type SessionPerson } from "../../store/contract/index.ts";

/** `given` null: the claim's own values are roles. */
export interface OidcRoleRule {
  claim: string;
  given: { value: string; role: string } | null;
}

export type Claims = Readonly<Record<string, unknown>> & { sub: string };

/** Highest first. */
const RANKED: readonly ApiRole[] = ["owner", "admin", "operator", "ingest-admin", "viewer", "read", "metrics"];
const NAME_UNITS_MAX = 200;

/** Null if no claim gives a role. */
export function personOf(issuer: string, claims: Claims, rules: readonly OidcRoleRule[]): SessionPerson | null {
  const roles = new Set(rules.flatMap(({ claim, given }) => rolesIn(valuesOf(claims[claim]), given)));
  const role = RANKED.find((candidate) => roles.has(candidate));
  return role === undefined ? null : { subject: `${issuer} ${claims.sub}`, name: nameOf(claims), role };
}

function rolesIn(values: readonly string[], given: OidcRoleRule["given"]): string[] {
  if (given === null) return values.filter((value) => (API_ROLES as readonly string[]).includes(value));
  return values.includes(given.value) ? [given.role] : [];
}

function valuesOf(claim: unknown): string[] {
  return (Array.isArray(claim) ? claim : [claim]).filter((value) => typeof value === "string");
}

function nameOf({ email, preferred_username: username, name, sub }: Claims): string {
  const known = [email, username, name].find((value) => typeof value === "string" && value !== "");
  return String(known ?? sub).slice(0, NAME_UNITS_MAX);
}
