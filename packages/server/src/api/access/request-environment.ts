/**
 * The environment of a request: the one that its header names, else the own one of a signing key, else the default one, else the only
 * one that the principal may use. This is where a principal meets the environment that a request names.
 *
 * Whether a principal may use a name does not depend on whether there is such an environment, so that nobody can probe for names.
 */

import { BRANCH_SCOPE, environmentNamed, Refusal } from "@inlet/protocol";
import type { FastifyRequest } from "fastify";
import { type Environment, NO_ENVIRONMENT_ID } from "../../store/contract/index.ts";
import { RestRefusal } from "../rest-errors.ts";
import { mayUse, type Principal, principalOf, restrictionText } from "./principal.ts";
import { isReading } from "./roles.ts";

export interface EnvironmentNames {
  environments(): Environment[];
  environmentNamed(name: string): Environment | undefined;
}

export interface NamedEnvironment {
  /** By the header. */
  named: string | null;
  /** By a sync that the request answers. */
  asked?: string | null;
  /** For requests that name none. */
  defaultEnvironment: string;
}

/**
 * The environment of a request that reads, or changes an object of its path, and names none, if it is not clear which one of the
 * principal's is meant: there is nothing in it, so that lists are empty and objects unknown. No environment has its id, and none its
 * name, which no pattern matches and messages show.
 */
export const NO_ENVIRONMENT: Environment = {
  id: NO_ENVIRONMENT_ID,
  name: "(none named: x-service-env chooses one)",
  kind: "custom",
  createdAt: 0,
  archivedAt: null,
  bodyBytesMax: null,
  retention: { eventsMs: null, runsMs: null, requestsMs: null },
  quotas: { eventsPerSecond: null, eventsPerDay: null, bytesPerDay: null, callsAtOnce: null, storedBytes: null },
  databaseNo: 0,
};

/** The name, and the environment if there is one of that name. A name that does not exist may become a branch environment. */
export function chooseEnvironment(
  directory: EnvironmentNames,
  principal: Pick<Principal, "kind" | "environments">,
  { named, asked = null, defaultEnvironment }: NamedEnvironment,
): { name: string; known: Environment | undefined } | Refusal {
  const home = homeOf(principal);
  const own = home === BRANCH_SCOPE ? null : home;
  const name = named ?? own ?? asked ?? (home === null ? environmentUnnamed(directory, principal, defaultEnvironment) : null);
  if (name instanceof Refusal) return name;
  if (name === null || (home === BRANCH_SCOPE && name === BRANCH_SCOPE)) {
    return new Refusal("environment_missing", "A signing key of all branches needs the name of a branch environment in x-service-env.");
  }
  const known = directory.environmentNamed(name);
  if (mayUse(principal, { name, kind: known?.kind ?? "branch" })) return { name, known };
  return new Refusal("environment_forbidden", `${restrictionText(principal)}; the request is for "${name}".`);
}

/** Archived environments can still be read. */
export function requestEnvironment(
  rules: { directory: EnvironmentNames; defaultEnvironment: string },
  request: Pick<FastifyRequest, "headers" | "method" | "principal" | "routeOptions">,
): Environment {
  const { directory, defaultEnvironment } = rules;
  const named = environmentNamed(request.headers);
  const chosen = chooseEnvironment(directory, principalOf(request), { named, defaultEnvironment });
  if (chosen instanceof Refusal) {
    const isFinding = isReading(request.method) || request.routeOptions.config.byId === true;
    if (named === null && chosen.code === "environment_forbidden" && isFinding) return NO_ENVIRONMENT;
    throw new RestRefusal(chosen.code, chosen.message);
  }
  if (!chosen.known) throw new RestRefusal("environment_not_found", `There is no environment "${chosen.name}".`);
  return chosen.known;
}

/** For requests that name none: the default one, else the only one of the principal. */
function environmentUnnamed(
  directory: EnvironmentNames,
  principal: Pick<Principal, "kind" | "environments">,
  defaultEnvironment: string,
): string | Refusal {
  if (mayUse(principal, { name: defaultEnvironment, kind: "default" })) return defaultEnvironment;
  const usable = directory.environments().filter((one) => one.kind !== "shared" && mayUse(principal, one));
  const [only, ...others] = usable;
  if (only && others.length === 0) return only.name;
  return new Refusal("environment_forbidden", `${restrictionText(principal)}; name one of its environments with x-service-env.`);
}

/** The environment of a signing key, or `branch`; null for keys of every environment and for all other principals. */
function homeOf({ kind, environments }: Pick<Principal, "kind" | "environments">): string | null {
  return kind === "signing-key" ? (environments?.[0] ?? null) : null;
}
