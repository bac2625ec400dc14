/**
 * What a principal was given: roles, each everywhere or in some environments. In each environment, the highest role that matches counts.
 */

import { coversEnvironments, matchesEnvironment } from "@inlet/protocol";
import type { ApiRole, Environment } from "../../store/contract/index.ts";

export interface Grant {
  role: ApiRole;
  /** Names, beginnings such as `payments-*`, and `branch`. Null: everywhere. */
  environments: readonly string[] | null;
}

export type EnvironmentRef = Pick<Environment, "name" | "kind">;

/** Highest first. */
const RANKED: readonly ApiRole[] = ["owner", "admin", "operator", "ingest-admin", "viewer", "read", "metrics"];

/** Null if no role matches. */
export function highestRole(grants: readonly Grant[]): ApiRole | null {
  return RANKED.find((role) => grants.some((grant) => grant.role === role)) ?? null;
}

export function roleInEnvironment(grants: readonly Grant[], environment: EnvironmentRef): ApiRole | null {
  return highestRole(grants.filter(({ environments }) => includesEnvironment(environments, environment)));
}

/** The role for what concerns the whole installation. */
export function roleEverywhere(grants: readonly Grant[]): ApiRole | null {
  return highestRole(grants.filter(({ environments }) => environments === null));
}

/** The environments of all grants together; null: every environment. */
export function environmentsOf(grants: readonly Grant[]): readonly string[] | null {
  if (grants.some(({ environments }) => environments === null)) return null;
  return [...new Set(grants.flatMap(({ environments }) => environments ?? []))];
}

export function includesEnvironment(environments: readonly string[] | null, environment: EnvironmentRef): boolean {
  return environments === null || environments.some((pattern) => matchesEnvironment(pattern, environment));
}

/** Whether the grants give at least this role in all of these environments, those to come included. */
export function coverGrant(grants: readonly Grant[], { role, environments }: Grant, kindOf: (name: string) => string): boolean {
  const high = grants.filter((grant) => RANKED.indexOf(grant.role) <= RANKED.indexOf(role));
  if (environments === null) return roleEverywhere(high) !== null;
  return environments.every((inner) =>
    high.some(
      (grant) => grant.environments === null || grant.environments.some((outer) => coversEnvironments(outer, inner, kindOf(inner))),
    ),
  );
}
