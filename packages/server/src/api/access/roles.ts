/**
 * The permissions of each role. `owner` and `admin` may call everything; once an installation has an owner, only owners create and revoke
 * owner keys. `operator` reads everything, and repairs runs and requests. `viewer` reads. `metrics` reads /metrics only.
 */

import type { FastifyContextConfig } from "fastify";
import type { ApiRole } from "../../store/contract/index.ts";

const READING_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

type Call = Pick<FastifyContextConfig, "ingest" | "repair" | "metrics"> & { isReading: boolean };

interface RoleRule {
  mayCall(call: Call): boolean;
  /** Completes "which allows only …". */
  allowed: string;
}

const VIEWER: RoleRule = { mayCall: ({ isReading }) => isReading, allowed: "GET requests" };
const ANYTHING: RoleRule = { mayCall: () => true, allowed: "everything" };

const RULES: Readonly<Record<ApiRole, RoleRule>> = {
  owner: ANYTHING,
  admin: ANYTHING,
  operator: { mayCall: ({ isReading, repair = false }) => isReading || repair, allowed: "reading, and repairing runs and requests" },
  viewer: VIEWER,
  read: VIEWER,
  metrics: { mayCall: ({ metrics = false }) => metrics, allowed: "reading /metrics" },
  "ingest-admin": { mayCall: ({ ingest = false }) => ingest, allowed: "managing webhooks and event schemas, and reading events and usage" },
};

export function isReading(method: string): boolean {
  return READING_METHODS.has(method);
}

/** Null if the role allows the request; otherwise what it allows instead. */
export function roleRefusal(role: ApiRole, method: string, config: FastifyContextConfig): string | null {
  const rule = RULES[role];
  return rule.mayCall({ ...config, isReading: isReading(method) }) ? null : rule.allowed;
}

/** Whether the role may see values that would allow sending or changing something, such as the URL of a webhook. */
export function seesSecrets(role: ApiRole | null): boolean {
  return role === "owner" || role === "admin" || role === "ingest-admin";
}
