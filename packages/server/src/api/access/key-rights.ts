/** Who may see, create, change and revoke which keys, and what holds between the fields of a key. */

import { type AcceptList, ENVIRONMENT_PATTERN_RULE, isEnvironmentBeginning, isEnvironmentPattern, type KeyId } from "@inlet/protocol";
import type { FastifyRequest } from "fastify";
import type { ApiRole, Environment, Key, KeyKind } from "../../store/contract/index.ts";
import { invalid, RestRefusal } from "../rest-errors.ts";
import { checkLists } from "../webhooks/webhook-schemas.ts";
import { coverGrant, type Grant, roleEverywhere } from "./grants.ts";
import { checkMayFind, principalOf, restrictionText } from "./principal.ts";

export interface KeyRightsParts {
  directory: {
    environment(id: NonNullable<Key["environmentId"]>): Environment | undefined;
    environmentNamed(name: string): Environment | undefined;
    keys(): Key[];
  };
  isIpRange(text: string): boolean;
}

/** The fields of a request. */
export interface GivenKey {
  kind: KeyKind;
  environment?: string;
  role?: ApiRole;
  environments?: readonly string[] | null;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
}

export function checkFields({ kind, environment, role, environments, eventNames, ips }: GivenKey, { isIpRange }: KeyRightsParts): void {
  if (environment !== undefined && kind === "api")
    throw invalid("environment", "is only for event and signing keys: for an API key set environments");
  if (environments && kind !== "api") throw invalid("environments", "is only for API keys: leave it out");
  const wrong = environments?.find((name) => !isEnvironmentPattern(name));
  if (wrong !== undefined) throw invalid("environments", `has "${wrong}"; each ${ENVIRONMENT_PATTERN_RULE}`);
  if (role && kind !== "api") throw invalid("role", "is only for API keys: leave it out");
  if (kind !== "event" && eventNames) throw invalid("eventNames", "is only for event keys: leave it out");
  if (kind !== "event" && ips) throw invalid("ips", "is only for event keys: leave it out");
  checkLists({ ...(eventNames && { eventNames }), ...(ips && { ips }) }, isIpRange);
}

/** A key gives at most the rights of its creator. That comes before its environments are looked for, so that nobody can probe for names. */
export function checkGrant(parts: KeyRightsParts, request: FastifyRequest, grant: Grant): void {
  checkMayGrant(parts, request, grant);
  const unknown = grant.environments?.find((name) => !isEnvironmentBeginning(name) && !parts.directory.environmentNamed(name));
  if (unknown !== undefined) throw invalid("environments", `names "${unknown}", which does not exist`);
}

function checkMayGrant(parts: KeyRightsParts, request: FastifyRequest, grant: Grant): void {
  const principal = principalOf(request);
  const isAdmin = (role: ApiRole | null) => role === "owner" || role === "admin";
  if (isAdmin(roleEverywhere(principal.grants))) {
    if (isFullOwner(grant)) checkOwner(request, parts.directory.keys());
    return;
  }
  // In none of the environments may the role be the creator's only by another grant that does not allow creating keys.
  const managing = principal.grants.filter(({ role }) => isAdmin(role));
  if (!coverGrant(managing, { ...grant, role: "metrics" }, kindOf(parts)))
    throw new RestRefusal(
      "environment_forbidden",
      `${restrictionText(principal)}; the key would be for ${grant.environments?.join(", ") ?? "every environment"}.`,
    );
  if (!coverGrant(managing, grant, kindOf(parts)))
    throw new RestRefusal(
      "role_forbidden",
      `You do not have the role ${grant.role} in all of these environments, so you cannot give it to a key: choose another role or fewer environments.`,
    );
}

/** A key that the caller may not manage is as unknown as one that does not exist. */
export function checkMayManage(parts: KeyRightsParts, request: FastifyRequest, id: KeyId): void {
  const notFound = () => keyNotFound(id);
  const key = parts.directory.keys().find((candidate) => candidate.id === id);
  if (!key) throw notFound();
  const { grants } = principalOf(request);
  if (key.environmentId !== null) return checkMayFind(request, parts.directory.environment(key.environmentId), notFound);
  const everywhere = roleEverywhere(grants);
  if (everywhere === "owner" || everywhere === "admin") return;
  const managing = grants.filter(({ role }) => role === "owner" || role === "admin");
  if (key.role === null || !coverGrant(managing, { role: key.role, environments: key.environments }, kindOf(parts))) throw notFound();
}

/** Whether the caller sees an API key, or a signing key of every environment: only if all of its environments are the caller's. */
export function isSeen(parts: KeyRightsParts, request: FastifyRequest, { environments }: Key): boolean {
  return coverGrant(principalOf(request).grants, { role: "metrics", environments }, kindOf(parts));
}

function kindOf({ directory }: KeyRightsParts): (name: string) => string {
  return (name) => directory.environmentNamed(name)?.kind ?? "custom";
}

export function keyNotFound(id: KeyId): RestRefusal {
  return new RestRefusal("key_not_found", `There is no key ${id}, or it is already revoked.`);
}

/** An admin creates the first key of an owner of everything; from then on only owners of everything create, change and revoke such keys. */
export function checkOwner(request: FastifyRequest, keys: Key[]): void {
  if (roleEverywhere(principalOf(request).grants) === "owner" || !keys.some(isFullOwner)) return;
  throw new RestRefusal(
    "role_forbidden",
    "Only an owner may create, change or revoke an API key with the role owner for all environments.",
  );
}

/** An owner of some environments is managed as an admin of them is: otherwise nobody could revoke the key of one. */
export function isFullOwner({ role, environments }: { role: ApiRole | null; environments: readonly string[] | null }): boolean {
  return role === "owner" && environments === null;
}

/** Without an admin key no other key could be created. */
export function isLastOfItsUse(keys: Key[], id: KeyId): boolean {
  const admins = keys.filter((key) => key.kind === "api" && isFullAdmin(key));
  return admins.length === 1 && admins[0]?.id === id;
}

export function isFullAdmin({ role, environments }: Key): boolean {
  return (role === "admin" || role === "owner") && environments === null;
}
