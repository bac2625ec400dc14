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
  /** Where the person has a role; null: everywhere. */
  environments: string[] | null;
  defaultEnvironment: string;
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
