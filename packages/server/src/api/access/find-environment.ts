/** The environment that a path names, and the record of what was done to it. */

import type { FastifyRequest } from "fastify";
import type { Environment } from "../../store/contract/index.ts";
import type { AuditNote, AuditTrail } from "./audit-trail.ts";
import { environmentUnknown } from "./rest-access.ts";

export interface EnvironmentDirectory {
  environmentNamed(name: string): Environment | undefined;
}

export function findEnvironment(directory: EnvironmentDirectory, name: string): Environment {
  const environment = directory.environmentNamed(name);
  if (!environment || environment.kind === "shared") throw environmentUnknown(name);
  return environment;
}

export function noteEnvironment(
  audit: AuditTrail,
  request: FastifyRequest,
  action: string,
  environment: Environment,
  details: Record<string, unknown> = {},
): Promise<void> {
  return audit.note(request, environmentNote(action, environment, details));
}

export function environmentNote(action: string, { name }: Environment, details: Record<string, unknown>): AuditNote {
  return { action: `environment.${action}`, target: { kind: "environment", id: name, name }, environment: name, details };
}
