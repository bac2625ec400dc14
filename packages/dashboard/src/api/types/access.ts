/** Keys, sessions and the audit log, as the REST API responds with them. */

export interface AcceptList {
  mode: "allow" | "deny";
  list: string[];
}

export interface Key {
  id: string;
  kind: "event" | "api" | "signing";
  name: string;
  prefix: string;
  environment?: string | null;
  eventNames?: AcceptList | null;
  ips?: AcceptList | null;
  role?: string | null;
  /** API keys: the environments it is restricted to; null for all. */
  environments?: string[] | null;
  createdAt: string;
  revokedAt: string | null;
  /** Only in the response that created it. */
  key?: string;
}

export interface Session {
  required: boolean;
  role: string | null;
  name: string | null;
  expiresAt: string | null;
  mode: "dev" | "start";
  version: string;
  store: "sqlite" | "postgres";
  /** Whether old events are archived. */
  archive: boolean;
  /** Where the person has a role; null: everywhere. */
  environments: string[] | null;
  defaultEnvironment: string;
}

/** A rule of `--oidc-roles` that applies in the environment. Without a value: the claim's values are roles. */
export interface RoleRule {
  claim: string;
  value: string | null;
  role: string | null;
  everywhere: boolean;
}

export interface OpenSession {
  id: string;
  name: string;
  role: string;
  ip: string;
  userAgent: string | null;
  createdAt: string;
  lastSeenAt: string;
  expiresAt: string;
  current: boolean;
}

export interface AuditEntry {
  id: string;
  at: string;
  actor: { kind: string; id: string | null; name: string | null };
  action: string;
  target: { kind: string; id: string | null; name: string | null };
  environment: string | null;
  details: unknown;
}
