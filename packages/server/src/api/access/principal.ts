/** The caller of a request, and its permissions. */

import type { FastifyRequest } from "fastify";
import type { ApiRole, Environment, Key } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";

export interface Principal {
  kind: "api-key" | "session" | "signing-key" | "dev";
  /** Of the key or the session. */
  id: string;
  name: string;
  /** The key that limits are counted by, also for sessions opened with it. */
  keyId: string;
  role: ApiRole;
  /** The environments it is restricted to; `branch` includes every branch environment. Null: all. */
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

/** The caller on a dev server, which requires no credentials. */
export const DEV_PRINCIPAL: Principal = {
  kind: "dev",
  id: "dev",
  keyId: "dev",
  name: "dev server",
  role: "admin",
  environments: null,
  isValid: () => true,
};

/** An app with a signing key. `home` is the key's environment, or the scope `branch`; undefined for a key of every environment. */
export function signingPrincipal(
  { id, name }: Pick<Key, "id" | "name">,
  home: Pick<Environment, "name"> | undefined,
  isValid: Principal["isValid"],
): Principal {
  return { kind: "signing-key", id, keyId: id, name, role: "read", environments: home ? [home.name] : null, isValid };
}

export function principalOf({ principal }: Pick<FastifyRequest, "principal">): Principal {
  if (!principal) throw new Error("the route requires no authentication, so there is no principal");
  return principal;
}

export function mayUse({ environments }: Pick<Principal, "environments">, { name, kind }: Pick<Environment, "name" | "kind">): boolean {
  return environments === null || environments.includes(name) || (kind === "branch" && environments.includes("branch"));
}

/**
 * Refuses a write that reaches branch environments by name or by a pattern that ends in *. A pattern also reaches branches that
 * are created later, so it needs access to all of them.
 */
export function checkMayUseBranches(request: FastifyRequest, names: readonly string[]): void {
  for (const name of names) checkMayUse(request, { name: name.endsWith("*") ? "branch" : name, kind: "branch" });
}

/** Refuses a request for an environment that the caller may not access. */
export function checkMayUse(request: FastifyRequest, environment: Pick<Environment, "name" | "kind">): void {
  const principal = principalOf(request);
  if (mayUse(principal, environment)) return;
  throw new RestRefusal("environment_forbidden", `${restrictionText(principal)}; the request is for "${environment.name}".`);
}

/** Says what the principal is restricted to; begins a sentence. */
export function restrictionText({ kind, environments }: Pick<Principal, "kind" | "environments">): string {
  const names = environments?.join(", ");
  if (kind === "signing-key") return `This signing key is valid only in ${names === "branch" ? "branch environments" : `"${names}"`}`;
  return `This ${kind === "session" ? "session" : "API key"} is restricted to ${names}`;
}
