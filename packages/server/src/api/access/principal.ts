/** The caller of a request, and its permissions. */

import type { FastifyRequest } from "fastify";
import type { ApiRole, Environment, Key } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";
import { type EnvironmentRef, environmentsOf, type Grant, highestRole, includesEnvironment, roleInEnvironment } from "./grants.ts";
import { roleRefusal } from "./roles.ts";

export interface Principal {
  kind: "api-key" | "session" | "signing-key" | "dev";
  /** Of the key or the session. */
  id: string;
  name: string;
  /** The key that limits are counted by, also for sessions opened with it. */
  keyId: string;
  grants: readonly Grant[];
  /** The highest of its roles. What it may do in an environment follows from its role there. */
  role: ApiRole;
  /** The environments in which it has a role; `branch` includes every branch environment. Null: all. */
  environments: readonly string[] | null;
  /** False as soon as the key is revoked or the session has ended. Checked again while a stream is open. */
  isValid(): boolean | Promise<boolean>;
}

declare module "fastify" {
  interface FastifyRequest {
    /** Null on public routes. */
    principal: Principal | null;
  }
}

/** What follows from the grants of a principal, of which there is at least one. */
export function holding(grants: readonly Grant[]): Pick<Principal, "grants" | "role" | "environments"> {
  return { grants, role: highestRole(grants) as ApiRole, environments: environmentsOf(grants) };
}

/** The caller on a dev server, which requires no credentials. */
export const DEV_PRINCIPAL: Principal = {
  kind: "dev",
  id: "dev",
  keyId: "dev",
  name: "dev server",
  ...holding([{ role: "admin", environments: null }]),
  isValid: () => true,
};

/** An app with a signing key. `home` is the key's environment, or the scope `branch`; undefined for a key of every environment. */
export function signingPrincipal(
  { id, name }: Pick<Key, "id" | "name">,
  home: Pick<Environment, "name"> | undefined,
  isValid: Principal["isValid"],
): Principal {
  const grants: Grant[] = [{ role: "read", environments: home ? [home.name] : null }];
  return { kind: "signing-key", id, keyId: id, name, ...holding(grants), isValid };
}

export function principalOf({ principal }: Pick<FastifyRequest, "principal">): Principal {
  if (!principal) throw new Error("the route requires no authentication, so there is no principal");
  return principal;
}

export function mayUse({ environments }: Pick<Principal, "environments">, environment: EnvironmentRef): boolean {
  return includesEnvironment(environments, environment);
}

/** The role of the caller in this environment; null if it has none there. */
export function callerRole(request: Pick<FastifyRequest, "principal">, environment: EnvironmentRef): ApiRole | null {
  return roleInEnvironment(principalOf(request).grants, environment);
}

/**
 * Refuses a write that reaches branch environments by name or by a pattern that ends in *. A pattern also reaches branches that
 * are created later, so it needs access to all of them.
 */
export function checkMayUseBranches(request: FastifyRequest, names: readonly string[]): void {
  for (const name of names) checkMayUse(request, { name: name.endsWith("*") ? "branch" : name, kind: "branch" });
}

/** Refuses a request that names an environment which the caller may not access, or in which its role does not allow the request. */
export function checkMayUse(request: FastifyRequest, environment: EnvironmentRef): void {
  const principal = principalOf(request);
  if (!mayUse(principal, environment))
    throw new RestRefusal("environment_forbidden", `${restrictionText(principal)}; the request is for "${environment.name}".`);
  checkRoleIn(request, environment);
}

/** Refuses a request for an object of this environment: as unknown if the caller may not access the environment, else by its role there. */
export function checkMayFind(request: FastifyRequest, environment: EnvironmentRef | undefined, notFound: () => RestRefusal): void {
  if (!environment || !mayUse(principalOf(request), environment)) throw notFound();
  checkRoleIn(request, environment);
}

/** Apps have no role: their key is accepted on the routes that say so. */
function checkRoleIn(request: FastifyRequest, environment: EnvironmentRef): void {
  if (principalOf(request).kind === "signing-key") return;
  const role = callerRole(request, environment);
  if (role !== null) checkRole(request, role);
}

/** Refuses the request if the role does not allow its route. */
export function checkRole(request: FastifyRequest, role: ApiRole): void {
  const allowed = roleRefusal(role, request.method, request.routeOptions.config);
  if (allowed === null) return;
  const who = principalOf(request).kind === "session" ? "This session" : "This API key";
  throw new RestRefusal("role_forbidden", `${who} has the role ${role}, which allows only ${allowed}.`);
}

/** Says what the principal is restricted to; begins a sentence. */
export function restrictionText({ kind, environments }: Pick<Principal, "kind" | "environments">): string {
  const names = environments?.join(", ");
  if (kind === "signing-key") return `This signing key is valid only in ${names === "branch" ? "branch environments" : `"${names}"`}`;
  return `This ${kind === "session" ? "session" : "API key"} is restricted to ${names}`;
}
