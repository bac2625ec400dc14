/** Environments, their quotas and databases, as the REST API responds with them. */

import type { Quota } from "@inlet/protocol/quotas";

export { QUOTAS, type Quota } from "@inlet/protocol/quotas";

export type EnvironmentKind = "default" | "custom" | "branch";

export interface Environment {
  name: string;
  kind: EnvironmentKind;
  createdAt: string;
  archivedAt: string | null;
  bodyLimitBytes: number | null;
  /** Of the signed-in person. */
  role: string | null;
  /** Durations such as `30d`; null: as set for the service. */
  retention: { events: string | null; runs: string | null; requests: string | null };
  /** The name of the database that holds its data. */
  database: string;
}

/** A database of the installation. The first is the directory. */
export interface Database {
  name: string;
  /** Names. */
  environments: string[];
  reachable: boolean;
  /** Null: it did not answer. */
  bytes: number | null;
}

/** An environment with what is used of its quotas in the running second or day, or now. */
export interface UsedEnvironment extends Environment {
  quotas: Record<Quota, number | null>;
  usage: Record<Quota, number>;
}
