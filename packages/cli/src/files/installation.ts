/** What the key of the command may see of an installation. */

import { BRANCH_SCOPE, coversEnvironments, matchesEnvironment } from "@inlet/protocol";
import type { RestClient } from "../rest/rest-client.ts";
import type { ServerEnvironment } from "./kinds/environments.ts";

export interface Installation {
  /** The environments that the key is restricted to; null: none. */
  restrictedTo: readonly string[] | null;
  /** Of objects that name none; one that the key may see. */
  defaultEnvironment: string;
  /** Those that the key may see. */
  environments: readonly ServerEnvironment[];
}

export async function readInstallation(rest: RestClient): Promise<Installation> {
  const { items } = await rest.list<ServerEnvironment>({ path: "/environments" });
  const { environments, defaultEnvironment } = await rest.data<{ environments: string[] | null; defaultEnvironment: string }>({
    path: "/session",
  });
  return { restrictedTo: environments, defaultEnvironment, environments: items };
}

/** With everything that a list may leave out. */
export function readEnvironment(rest: RestClient, name: string): Promise<ServerEnvironment> {
  return rest.data<ServerEnvironment>({ path: `/environments/${encodeURIComponent(name)}` });
}

/** Whether objects of this environment can be read: it exists, or is what branch environments share. */
export function isThere({ environments, restrictedTo }: Installation, name: string): boolean {
  if (name === BRANCH_SCOPE) return restrictedTo === null || restrictedTo.includes(BRANCH_SCOPE);
  return environments.some((environment) => environment.name === name);
}

/** Whether patterns include an environment. No patterns: all. */
export function isSelected({ environments }: Installation, patterns: readonly string[], name: string): boolean {
  const kind = environments.find((environment) => environment.name === name)?.kind ?? "custom";
  return patterns.length === 0 || patterns.some((pattern) => matchesEnvironment(pattern, { name, kind }));
}

/** Whether patterns include everything that an API key allows. Null: every environment. */
export function coverKey({ environments }: Installation, patterns: readonly string[] | null, allowed: unknown): boolean {
  if (patterns === null) return true;
  if (!Array.isArray(allowed)) return false;
  const kindOf = (name: string) => environments.find((environment) => environment.name === name)?.kind ?? "custom";
  return allowed.every((inner: string) => patterns.some((outer) => coversEnvironments(outer, inner, kindOf(inner))));
}
