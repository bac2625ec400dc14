/** Creates a key: stores it, records it in the audit log, and shows its text once. */

import type { FastifyRequest } from "fastify";
import type { Environment, Key, KeyKind, KeyStore } from "../../store/contract/index.ts";
import type { AuditTrail } from "./audit-trail.ts";

export interface CreateKeyParts {
  audit: AuditTrail;
  store: KeyStore;
  directory: { environment(id: NonNullable<Key["environmentId"]>): Environment | undefined; refresh(): Promise<void> };
  /** `environment` is named in the text of a signing key. */
  issueKey(kind: KeyKind, environment: string | null): { text: string; key: Pick<Key, "id" | "hash" | "prefix" | "secret"> };
  now: () => number;
}

export interface NewKeyFields extends Pick<Key, "kind" | "name">, Partial<Pick<Key, "role" | "environments" | "eventNames" | "ips">> {
  /** Null for an API key. */
  environment: Environment | null;
}

export async function createKey(parts: CreateKeyParts, request: FastifyRequest, fields: NewKeyFields): Promise<object> {
  const { environment, kind, name, role = null, environments = null, eventNames = null, ips = null } = fields;
  const issued = parts.issueKey(kind, environment?.name ?? null);
  const created = await parts.store.keyInsert({
    ...issued.key,
    kind,
    name,
    environmentId: environment?.id ?? null,
    role,
    environments,
    eventNames,
    ips,
    createdAt: parts.now(),
  });
  if (!created) throw new Error("a generated key was not new");
  await parts.directory.refresh();
  await noteKey(parts, request, "created", created);
  return { ...keyView(parts.directory, created), key: issued.text };
}

export function noteKey({ audit, directory }: CreateKeyParts, request: FastifyRequest, action: string, key: Key): Promise<void> {
  const { id, name, kind, prefix, role, environments } = key;
  const details = { kind, prefix, ...(kind === "api" && { role, environments }) };
  const target = { kind: "key", id, name };
  return audit.note(request, { action: `key.${action}`, target, environment: environmentName(directory, key), details });
}

export function keyView(directory: CreateKeyParts["directory"], key: Key) {
  return {
    id: key.id,
    kind: key.kind,
    name: key.name,
    prefix: key.prefix,
    ...(key.kind !== "api" && { environment: environmentName(directory, key) }),
    ...(key.kind === "event" && { eventNames: key.eventNames, ips: key.ips }),
    ...(key.kind === "api" && { role: key.role, environments: key.environments }),
    createdAt: new Date(key.createdAt).toISOString(),
    revokedAt: key.revokedAt === null ? null : new Date(key.revokedAt).toISOString(),
  };
}

function environmentName(directory: CreateKeyParts["directory"], { environmentId }: Key): string | null {
  return environmentId === null ? null : (directory.environment(environmentId)?.name ?? null);
}
